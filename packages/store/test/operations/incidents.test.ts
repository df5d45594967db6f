import type { Finding } from '@onecode/domain';
import { deleteOldIncidents, listIncidents, recordIncidents } from '@onecode/store/operations';
import { useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();
afterEach(() => store.sql('delete from incidents'));

const WORKER: Finding = { name: 'no_workers', cause: 'none', owner: 'us', severity: 'failing' };
const paused = (language: string): Finding => ({
  name: 'senders_blocked',
  cause: 'template',
  owner: 'meta',
  severity: 'degraded',
  template: {
    template: 'code',
    language,
    status: 'PAUSED',
    at: '2026-11-23T02:14:00.000Z',
    serving: 1,
  },
});
const list = async () =>
  (await listIncidents(store.database)).map(({ finding, beganAt, seenAt }) => [
    finding.name,
    Math.round((seenAt.getTime() - beganAt.getTime()) / 1_000),
  ]);
const age = (time: string): Promise<unknown> =>
  store.sql(`update incidents set began_at = began_at - $1::interval, seen_at = seen_at - $1::interval`, [
    time,
  ]);

describe('an incident', () => {
  it('continues while it is recorded, with the latest finding, and is a new one after a minute without', async () => {
    await recordIncidents(store.database, [WORKER]);
    await age('30 seconds');
    await recordIncidents(store.database, [{ ...WORKER, severity: 'degraded' }]);
    expect(await list()).toEqual([['no_workers', 30]]);
    expect((await listIncidents(store.database))[0]!.finding.severity).toBe('degraded');
    await recordIncidents(store.database, []);
    await age('61 seconds');
    await recordIncidents(store.database, [WORKER]);
    expect(await list()).toEqual([
      ['no_workers', 0],
      ['no_workers', 30],
    ]);
  });

  it('is separate for each subject, and recorded once by concurrent processes', async () => {
    await Promise.all(
      Array.from({ length: 8 }, () => recordIncidents(store.database, [paused('en'), paused('pt_BR')])),
    );
    expect(await list()).toEqual([
      ['senders_blocked', 0],
      ['senders_blocked', 0],
    ]);
  });

  it('is kept for a day', async () => {
    await recordIncidents(store.database, [WORKER]);
    await age('23 hours');
    await deleteOldIncidents(store.database);
    expect(await list()).toHaveLength(1);
    await age('2 hours');
    expect(await list()).toEqual([]);
    await deleteOldIncidents(store.database);
    expect(await store.sql('select from incidents')).toEqual([]);
  });
});
