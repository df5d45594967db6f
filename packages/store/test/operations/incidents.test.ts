import type { Finding } from '@onecode/domain';
import { newId } from '@onecode/store/client';
import {
  acknowledgeIncident,
  deleteOldIncidents,
  listAuditEntries,
  listIncidents,
  recordIncidents,
} from '@onecode/store/operations';
import { TEST_ACTOR, useTestDatabase } from '@onecode/testing';

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
  store.sql(
    `update incidents set began_at = began_at - $1::interval, seen_at = seen_at - $1::interval, failing_at = failing_at - $1::interval`,
    [time],
  );
const latest = async () => (await listIncidents(store.database))[0]!;

describe('an incident', () => {
  it('lasts while it is recorded, with its latest finding', async () => {
    await recordIncidents(store.database, [WORKER]);
    await age('30 seconds');
    await recordIncidents(store.database, [{ ...WORKER, severity: 'degraded' }]);
    expect(await list()).toEqual([['no_workers', 30]]);
    expect(await latest()).toMatchObject({ finding: { severity: 'degraded' } });
  });

  it('continues with its first start if it returns within ten minutes, and is new if it returns later', async () => {
    await recordIncidents(store.database, [WORKER]);
    await age('9 minutes');
    await recordIncidents(store.database, [WORKER]);
    expect(await list()).toEqual([['no_workers', 540]]);
    await age('11 minutes');
    await recordIncidents(store.database, [WORKER]);
    expect(await list()).toEqual([
      ['no_workers', 0],
      ['no_workers', 540],
    ]);
  });

  it('begins at the start of the block that it reports', async () => {
    await recordIncidents(store.database, [paused('en')]);
    expect((await latest()).beganAt).toEqual(new Date('2026-11-23T02:14:00.000Z'));
  });

  it('is separate for each subject, and is recorded once by concurrent processes', async () => {
    await Promise.all(
      Array.from({ length: 8 }, () => recordIncidents(store.database, [paused('en'), paused('pt_BR')])),
    );
    expect((await list()).map(([name]) => name)).toEqual(['senders_blocked', 'senders_blocked']);
  });

  it('keeps its latest acknowledgement and note when it returns, and logs each acknowledgement', async () => {
    await recordIncidents(store.database, [WORKER]);
    const { id } = await latest();
    expect(await acknowledgeIncident(store.database, TEST_ACTOR, newId(), null)).toBe(false);
    await acknowledgeIncident(store.database, TEST_ACTOR, id, null);
    await acknowledgeIncident(store.database, { ...TEST_ACTOR, name: 'ana@example.com' }, id, 'disk full');
    await age('2 minutes');
    await recordIncidents(store.database, [WORKER]);
    expect((await latest()).acknowledged).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      by: 'ana@example.com',
      note: 'disk full',
    });
    expect(await listAuditEntries(store.database, { limit: 2 })).toMatchObject([
      { action: 'incident.acknowledge', subject: 'no_workers', details: { after: { note: 'disk full' } } },
      { action: 'incident.acknowledge', details: { before: { note: null }, after: { note: null } } },
    ]);
  });

  it('is deleted after a day', async () => {
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
