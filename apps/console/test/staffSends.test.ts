import { newId } from '@onecode/store';
import { buildCaller, buildSend } from '@onecode/store/testing';
import type { StaffSendView } from '../src/views/staffSends.js';
import { useConsole } from './console.js';
import { person, type TestPerson } from './people.js';

const server = useConsole();
let onCall: TestPerson;
beforeAll(async () => {
  onCall = await person(server, { staff: 'on_call' });
});

describe('a send that somebody on call looks up by its id', () => {
  it('is any account’s, named, with its timeline and without its recipient', async () => {
    const caller = await buildCaller(server.db.database, 'live', { name: 'Loja Azul', credits: 1 });
    const id = await buildSend(server.db.database, caller, { recipient: '+5511912345678', code: '734192' });

    const { status, body } = await onCall.get<StaffSendView>(`/operations/sends/${id}`);
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

  it('does not exist when there is none', async () => {
    expect(await onCall.get(`/operations/sends/${newId()}`)).toMatchObject({ status: 404 });
    expect(await onCall.get('/operations/sends/not-an-id')).toMatchObject({ status: 404 });
  });
});
