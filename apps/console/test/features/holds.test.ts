import { listAuditEntries, newId } from '@onecode/store';
import { buildCaller, buildSend } from '@onecode/testing';
import type { HoldsView } from '../../src/features/holds/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let operator: TestPerson;
let onCall: TestPerson;
beforeAll(async () => {
  operator = await person(server, { staff: 'operator' });
  onCall = await person(server, { staff: 'on_call' });
});

const show = async (): Promise<HoldsView> => (await onCall.get<HoldsView>('/staff/holds')).body;
const latest = async () => (await listAuditEntries(server.db.database, { limit: 1 }))[0];

describe('holds', () => {
  it('are set with a reason, tell how many sends wait, and are released', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { name: 'Loja Azul', credits: 9 });
    const other = await buildCaller(database, 'live', { credits: 9 });
    for (const one of [caller, caller, other]) await buildSend(database, one);
    await server.db.sql('update sends set awaiting_sender = true');

    for (const [kind, target] of [
      ['live', ''],
      ['country', 'BR'],
      ['account', caller.accountId],
    ])
      expect((await operator.post('/staff/holds', { kind, target, reason: 'a test' })).status).toBe(204);

    const held = { reason: 'a test', since: expect.any(String), setBy: operator.email };
    expect(await show()).toEqual({
      holds: [
        { kind: 'live', target: '', accountName: null, waiting: 3, ...held },
        { kind: 'country', target: 'BR', accountName: null, waiting: 3, ...held },
        { kind: 'account', target: caller.accountId, accountName: 'Loja Azul', waiting: 2, ...held },
      ],
      waiting: 3,
      isCapped: false,
    });
    expect(await latest()).toMatchObject({ action: 'hold.set', accountId: caller.accountId });
    const { body } = await onCall.get(`/staff/accounts/${caller.accountId}`);
    expect(body.held).toBe(true);

    for (const [kind, target] of [
      ['live', ''],
      ['country', 'BR'],
      ['account', caller.accountId],
    ])
      expect((await operator.post('/staff/holds/release', { kind, target })).status).toBe(204);
    expect((await show()).holds).toEqual([]);
    expect(await latest()).toMatchObject({ action: 'hold.release', accountId: caller.accountId });
  });

  it.each([
    [{ kind: 'all', target: '', reason: 'why' }, { kind: 'enum' }],
    [{ kind: 'live', target: 'BR', reason: 'why' }, { target: 'format' }],
    [{ kind: 'country', target: 'XX', reason: 'why' }, { target: 'format' }],
    [{ kind: 'country', target: 'br', reason: 'why' }, { target: 'format' }],
    [{ kind: 'account', target: 'BR', reason: 'why' }, { target: 'format' }],
    [{ kind: 'account', target: newId(), reason: 'why' }, { target: 'unknown' }],
    [{ kind: 'live', target: '', reason: ' ' }, { reason: 'pattern' }],
    [{ kind: 'live', target: '' }, { reason: 'required' }],
  ])('are not set by %j', async (body, errors) => {
    const last = await latest();

    expect(await operator.post('/staff/holds', body)).toMatchObject({ status: 422, body: { errors } });

    expect((await show()).holds).toEqual([]);
    expect(await latest()).toEqual(last);
  });

  it('are not released where there is none', async () => {
    expect(await operator.post('/staff/holds/release', { kind: 'live', target: '' })).toMatchObject({
      status: 404,
    });
  });

  it('can hold numbers of no country', async () => {
    await operator.post('/staff/holds', { kind: 'country', target: 'ZZ', reason: 'satellites' });
    expect((await show()).holds).toMatchObject([{ kind: 'country', target: 'ZZ' }]);
    await operator.post('/staff/holds/release', { kind: 'country', target: 'ZZ' });
  });
});
