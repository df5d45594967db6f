import { listAuditEntries, newId } from '@onecode/store';
import { buildCaller, buildSend } from '@onecode/testing';
import type { StaffSendView } from '../../../src/features/sends/view.js';
import { useConsole } from '../../console.js';
import { person, type TestPerson } from '../../people.js';

const server = useConsole();
let onCall: TestPerson;
beforeAll(async () => {
  onCall = await person(server, { staff: 'on_call' });
});

describe('a send that somebody on call looks up by its id', () => {
  it('is any account’s, named, with its timeline and without its recipient', async () => {
    const caller = await buildCaller(server.db.database, 'live', { name: 'Loja Azul', credits: 1 });
    const id = await buildSend(server.db.database, caller, { recipient: '+5511912345678', code: '734192' });

    const { status, body } = await onCall.get<StaffSendView>(`/staff/sends/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      account: { id: caller.accountId, name: 'Loja Azul' },
      application: { id: caller.applicationId, name: 'Test live' },
      status: 'queued',
      timeline: [{ kind: 'created' }],
      waiting: [{ kind: 'worker' }, { kind: 'code' }],
      isOpen: true,
    });
    expect(Object.keys(body)).not.toContain('recipient');
    expect(JSON.stringify(body)).not.toMatch(/5678|734192/);
  });

  it('is in the audit log, once an hour for each reader, however often the page reads again', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { credits: 1 });
    const id = await buildSend(database, caller);
    const operator = await person(server, { staff: 'operator' });
    const reads = () =>
      listAuditEntries(database, { accountId: caller.accountId, actionPrefix: 'send.', limit: 9 });

    await Promise.all(Array.from({ length: 12 }, () => onCall.get(`/staff/sends/${id}`)));
    expect(await reads()).toMatchObject([
      { action: 'send.read', actor: { id: onCall.id, name: onCall.email }, subject: id, details: {} },
    ]);
    await operator.get(`/staff/sends/${id}`);
    expect((await reads()).map(({ actor }) => actor.id)).toEqual([operator.id, onCall.id]);

    await server.db.sql("update logged_reads set logged_at = logged_at - interval '61 minutes'");
    await onCall.get(`/staff/sends/${id}`);
    expect((await reads()).map(({ actor }) => actor.id)).toEqual([onCall.id, operator.id, onCall.id]);
  });

  it('is not shown when that cannot be logged', async () => {
    const caller = await buildCaller(server.db.database, 'live', { credits: 1 });
    const id = await buildSend(server.db.database, caller);
    await server.db.sql(
      "alter table audit_entries add constraint full_up check (action <> 'send.read') not valid",
    );
    const refused = await onCall.get(`/staff/sends/${id}`);
    await server.db.sql('alter table audit_entries drop constraint full_up');
    expect(refused).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect(JSON.stringify(refused.body)).not.toContain(caller.accountId);
    // And nothing says that it was logged.
    expect((await onCall.get(`/staff/sends/${id}`)).status).toBe(200);
    expect(await listAuditEntries(server.db.database, { actionPrefix: 'send.', limit: 1 })).toMatchObject([
      { subject: id },
    ]);
  });

  it('leaves no entry when there is none, or when its own team reads it', async () => {
    const caller = await buildCaller(server.db.database, 'live', { credits: 1 });
    const id = await buildSend(server.db.database, caller);
    const member = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    const [before] = await listAuditEntries(server.db.database, { limit: 1 });
    expect((await member.get(`/accounts/${caller.accountId}/sends/${id}`)).status).toBe(200);
    expect((await onCall.get(`/staff/sends/${newId()}`)).status).toBe(404);
    expect((await listAuditEntries(server.db.database, { limit: 1 }))[0]).toEqual(before);
  });
});
