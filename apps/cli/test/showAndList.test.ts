import { userInfo } from 'node:os';
import { createApplication, newId } from '@onecode/store';
import {
  buildAccount,
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  useTestDatabase,
} from '@onecode/testing';
import { expectFault, jsonOf, onecode, TIME, UNKNOWN_ID } from './onecode.js';

const store = useTestDatabase();
let env: Record<string, string>;
beforeAll(async () => {
  env = { DATABASE_URL: store.url };
});

it.each([
  [['application', 'show', UNKNOWN_ID], 'there is no application with this id'],
  [['application', 'list', '--account', UNKNOWN_ID], 'there is no account with this id'],
  [['send', 'show', UNKNOWN_ID], 'there is no send with this id'],
  [['sender', 'show', UNKNOWN_ID], 'there is no sender with this id'],
  [['user', 'show', 'nobody@example.com'], 'nobody has this e-mail address'],
])('%j is refused', async (args, line) => {
  expectFault(await onecode(args, env), 1, line);
});

describe('account list', () => {
  it('lists accounts from the newest on, a page at a time, with fields that show has', async () => {
    const first = await buildAccount(store.database, { name: 'Padaria Sol' });
    const second = await buildAccount(store.database, { name: 'Loja Azul' });
    const shown = (await jsonOf(['account', 'show', second], env)) as object;
    const listed = (await jsonOf(['account', 'list', '--limit', '1'], env)) as [object];
    expect(listed).toHaveLength(1);
    expect(shown).toMatchObject(listed[0]);
    expect(listed[0]).toMatchObject({ id: second, name: 'Loja Azul', suspended_at: null });
    const rest = await jsonOf(['account', 'list', '--before', second, '--limit', '1'], env);
    expect(rest).toMatchObject([{ id: first }]);
  });

  it('finds accounts by the beginnings of words in their names', async () => {
    const id = await buildAccount(store.database, { name: 'Clínica Vida Nova' });
    expect(await jsonOf(['account', 'list', '--search', 'vida nov'], env)).toMatchObject([{ id }]);
    expect(await jsonOf(['account', 'list', '--search', 'nothing'], env)).toEqual([]);
  });
});

describe('applications', () => {
  it('are listed for one account or for all, from the newest on, and shown, with their limits', async () => {
    const accountId = await buildAccount(store.database);
    const create = async (name: string): Promise<string> =>
      (await createApplication(store.database, TEST_ACTOR, { accountId, name, mode: 'live' }))!.id;
    const [first, second] = [await create('Shop'), await create('App')];
    const limits = { per_minute: null, per_recipient_hour: null, identity_check: 'off' };
    const rows = [
      { id: second, account_id: accountId, name: 'App', mode: 'live', ...limits },
      { id: first, account_id: accountId, name: 'Shop', mode: 'live', ...limits },
    ];
    expect(await jsonOf(['application', 'list', '--account', accountId], env)).toEqual(rows);
    expect(await jsonOf(['application', 'list', '--limit', '1'], env)).toEqual([rows[0]]);
    expect(await jsonOf(['application', 'show', first], env)).toEqual(rows[1]);
  });
});

describe('sender show and user show', () => {
  it('print what the lists print of one', async () => {
    const { id } = await buildSender(store.database);
    const senders = (await jsonOf(['sender', 'list'], env)) as { id: string }[];
    expect(await jsonOf(['sender', 'show', id], env)).toEqual({
      ...senders.find((sender) => sender.id === id),
      business_account_id: null,
      quality: 'UNKNOWN',
      messaging_limit: null,
      unique_recipients_24h: 0,
      checked_at: null,
      templates: [],
    });

    await jsonOf(
      ['user', 'create', '--email', 'ana@example.com', '--name', 'Ana', '--language', 'browser'],
      env,
    );
    const users = await jsonOf(['user', 'list'], env);
    expect([await jsonOf(['user', 'show', 'ana@example.com'], env)]).toEqual(users);
    expect(users).toMatchObject([{ email: 'ana@example.com', language: 'browser' }]);
  });
});

describe('send show', () => {
  const RECIPIENT = '+5511987654321';

  it('shows what happened to a send without its recipient, and the audit log records it', async () => {
    const caller = await buildCaller(store.database, 'live');
    const requestId = '7d3a5c1e-2b4f-4a6d-8e90-1c2b3a4d5e6f';
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const id = await buildSend(store.database, caller, { recipient: RECIPIENT, requestId, traceparent });
    expect(await jsonOf(['send', 'show', id], env)).toMatchObject({
      id,
      account_id: caller.accountId,
      application_id: caller.applicationId,
      mode: 'live',
      status: 'queued',
      verification: 'pending',
      guesses_left: 5,
      awaiting_sender: false,
      created_at: TIME,
      expires_at: TIME,
      attempts: [],
      receipts: [],
      units: [{ kind: 'reserved', bucket: 'free_quota', at: TIME }],
      request_id: requestId,
      traceparent,
      waits_for: 'worker',
      holds: [],
      refunded_at: null,
      wrong_guesses: [],
      denied_at: [],
      timeline: [{ at: TIME, event: 'created', charged_from: 'free_quota' }],
    });
    const { stdout } = await onecode(['send', 'show', id], env);
    expect(stdout).toContain('queued');
    expect(stdout).toMatch(/\n\n\S+Z created free_quota\n$/);
    expect(stdout).not.toContain(RECIPIENT.slice(-6));

    const entries = ['audit', 'list', '--account', caller.accountId, '--limit', '2'];
    const read = { action: 'send.read', subject: id, actor_kind: 'command_line', actor: userInfo().username };
    expect(await jsonOf(entries, env)).toMatchObject([read, read]);
  });

  it('prints what is true of an event, and is silent about what is not', async () => {
    const id = await buildSend(store.database, await buildCaller(store.database, 'live'));
    const attempt = newId();
    await store.sql(
      `insert into attempts (id, send_id, outcome, message_id, finished_at) values ($1, $2, 'accepted', 'wamid.1', now())`,
      [attempt, id],
    );
    await store.sql(
      `insert into receipts (attempt_id, message_id, status, occurred_at, due_at, result)
       values ($1, 'wamid.1', 'sent', now(), null, 'applied')`,
      [attempt],
    );
    const { stdout } = await onecode(['send', 'show', id], env);
    expect(stdout).toMatch(/Z receipt sent$/m);
  });

  it('names the holds that stop a send, and no others', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    await jsonOf(['hold', 'set', 'country', 'AR', '--reason', 'elsewhere'], env);
    await jsonOf(['hold', 'set', 'account', caller.accountId, '--reason', 'under review'], env);
    expect(await jsonOf(['send', 'show', id], env)).toMatchObject({
      waits_for: 'release',
      waits_until: TIME,
      holds: [{ since: TIME, kind: 'account', target: caller.accountId, reason: 'under review' }],
    });
    await jsonOf(['hold', 'release', 'country', 'AR'], env);
    await jsonOf(['hold', 'release', 'account', caller.accountId], env);
  });
});
