import { createHmac, randomUUID } from 'node:crypto';
import { newId } from '@onecode/store/client';
import {
  assignSender,
  editSender,
  findOwnApp,
  removeSender,
  type Sender,
  type SenderKey,
} from '@onecode/store/senders';
import {
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  type RawAnswer,
  type TestCaller,
} from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { messageIdOf, verifyTokenOf } from '@onecode/whatsapp';
import { APP_SECRET, useApi, VERIFY_TOKEN } from './testApi.js';

const SECRETS = { ana: '0'.repeat(31) + 'a', rui: '0'.repeat(31) + 'b' } as const;

const api = useApi();
/** Two accounts, each with its own sender and Meta app, and a shared sender. */
let ana: TestCaller;
let rui: TestCaller;
let shared: Sender;
const senders = {} as Record<'ana' | 'rui', Sender>;

const setAppSecret = (key: SenderKey, appSecret: string | null) =>
  editSender(api.db.database, TEST_ACTOR, key, { secrets: { keyring: TEST_SECRET_KEY, appSecret } });

/** Creates an account's own sender with its own app and this app secret. */
async function ownSender(
  { accountId }: TestCaller,
  secret: string,
  business: { businessAccountId?: string } = {},
): Promise<Sender> {
  const { database } = api.db;
  const made = await buildSender(database, { owner: { accountId, applicationIds: [] }, ...business });
  await setAppSecret(made.id, secret);
  return made;
}

beforeAll(async () => {
  const { database } = api.db;
  ana = await buildCaller(database, 'live', { credits: 100 });
  rui = await buildCaller(database, 'live', { credits: 100 });
  shared = await buildSender(database, { businessAccountId: '100' });
  senders.ana = await ownSender(ana, SECRETS.ana, { businessAccountId: '200' });
  senders.rui = await ownSender(rui, SECRETS.rui, { businessAccountId: '300' });
});

const pathOf = (id: string): string => `/webhooks/whatsapp/${id}`;

/** Posts reports signed with a secret to the address of a sender, or to the shared address. */
function post(secret: string, sender: Pick<Sender, 'id'> | null, ...changes: object[]): Promise<RawAnswer> {
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: changes });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const path = sender === null ? '/webhooks/whatsapp' : pathOf(sender.id);
  return rawRequest(api.port, 'POST', path, [['X-Hub-Signature-256', signature]], body);
}

const messages = (value: object, businessAccountId = '1'): object => ({
  id: businessAccountId,
  changes: [{ field: 'messages', value }],
});
const receipts = (...statuses: object[]): object => messages({ statuses });

/** Creates a send with a message that a sender has sent, or is sending now. */
async function message(
  of: TestCaller,
  { id }: Sender,
  leaves: 'left' | 'leaves' = 'left',
): Promise<{ messageId: string; receipt: object }> {
  const sendId = await buildSend(api.db.database, of);
  const messageId = `wamid.${randomUUID()}`;
  if (leaves === 'leaves')
    await api.db.sql(
      `update sends set status = 'sending', phase = 'calling', sender_id = $2, channel = 'whatsapp', from_number = '+15550783881', attempts = 1, attempt_number = 1, claimed_at = now(), claimed_until = now() + interval '1 minute'
       where id = $1`,
      [sendId, id],
    );
  else
    await api.db.sql(
      `insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
       values ($1, 1, $2, 'accepted', $3, now(), now())`,
      [sendId, id, messageIdOf(messageId)],
    );
  const receipt = {
    id: messageId,
    status: 'delivered',
    timestamp: '1767225600',
    biz_opaque_callback_data: `${sendId}.1`,
  };
  return { messageId, receipt };
}

async function stored(kind: 'receipt' | 'denial', messageId: string): Promise<number> {
  const [row] = await api.db.sql<{ n: number }>(
    `select count(*)::integer as n from provider_reports where kind = $1 and report ->> 'messageId' = $2`,
    [kind, messageIdOf(messageId)],
  );
  return row!.n;
}

it('receipts from an account’s app are stored for its own senders, also for a message that is being sent', async () => {
  const left = await message(ana, senders.ana);
  const leaves = await message(ana, senders.ana, 'leaves');
  const answer = await post(SECRETS.ana, senders.ana, receipts(left.receipt, leaves.receipt));
  expect(answer).toMatchObject({ status: 200, body: 'ok' });
  expect(await stored('receipt', left.messageId)).toBe(1);
  expect(await stored('receipt', leaves.messageId)).toBe(1);
});

it('receipts for messages of other accounts and for unknown messages are dropped', async () => {
  const own = await message(ana, senders.ana);
  const others = [
    await message(rui, senders.rui),
    await message(rui, senders.rui, 'leaves'),
    // The account's own send, sent by the shared number.
    await message(ana, shared),
    await message(ana, shared, 'leaves'),
  ];
  const { biz_opaque_callback_data: _, ...nameless } = (await message(ana, senders.ana)).receipt as {
    biz_opaque_callback_data: string;
  };
  const statuses = [...others.map(({ receipt }) => receipt), own.receipt];
  const answer = await post(SECRETS.ana, senders.ana, receipts(...statuses, { ...nameless, id: 'wamid.x' }));
  expect(answer.status).toBe(200);
  for (const { messageId } of others) expect(await stored('receipt', messageId)).toBe(0);
  expect(await stored('receipt', 'wamid.x')).toBe(0);
  expect(await stored('receipt', own.messageId)).toBe(1);
});

it('receipts of a test code, which no send has, are stored, unless they name a message of another account', async () => {
  const others = await message(rui, senders.rui);
  const testCode = {
    ...others.receipt,
    id: `wamid.${randomUUID()}`,
    biz_opaque_callback_data: `${newId()}.1`,
  };
  const forged = { ...testCode, id: others.messageId };
  expect((await post(SECRETS.ana, senders.ana, receipts(testCode, forged))).status).toBe(200);
  expect(await stored('receipt', testCode.id)).toBe(1);
  expect(await stored('receipt', others.messageId)).toBe(0);
});

it('thousands of repeats of a failure are stored once, with the account as the reporter', async () => {
  const failed = { status: 'failed', errors: [{ code: 131026 }] };
  const own = await Promise.all(Array.from({ length: 5 }, () => message(ana, senders.ana)));
  const posted = receipts(...own.map(({ receipt }) => ({ ...receipt, ...failed })));
  const repeats = Array.from({ length: 400 }, () => posted);
  for (let n = 0; n < 4; n++) expect((await post(SECRETS.ana, senders.ana, ...repeats)).status).toBe(200);
  const rows = await api.db.sql(`select reporter from provider_reports where report ->> 'status' = 'failed'`);
  expect(rows.map(({ reporter }) => reporter)).toEqual(Array(5).fill(ana.accountId));
});

it('posts of an app are refused with 503 while too many of its reports are pending, and those of other apps are accepted', async () => {
  const [of, ofOther] = [await message(ana, senders.ana), await message(rui, senders.rui)];
  const postAll = async () =>
    Promise.all([
      post(SECRETS.ana, senders.ana, receipts(of.receipt)),
      post(SECRETS.rui, senders.rui, receipts(ofOther.receipt)),
      post(APP_SECRET, null, receipts(ofOther.receipt)),
    ]).then((answers) => answers.map(({ status }) => status));
  await api.db.sql(
    `insert into provider_reports (key, reporter, kind, report) select 'waits ' || n, $1, 'change', '{}' from generate_series(1, 10001) n`,
    [ana.accountId],
  );
  expect(await postAll()).toEqual([503, 200, 200]);
  expect(await stored('receipt', of.messageId)).toBe(0);
  await api.db.sql(`delete from provider_reports where key like 'waits %'`);
  expect(await postAll()).toEqual([200, 200, 200]);
  expect(await stored('receipt', of.messageId)).toBe(1);
});

it('one post cannot bring more reports than may be pending', async () => {
  const changes = Array.from({ length: 10_001 }, (_, n) => ({
    field: 'account_update',
    value: { event: String(n) },
  }));
  const [, ...fewer] = changes;
  const count = async () =>
    (await api.db.sql(`select from provider_reports where reporter = $1`, [ana.accountId])).length;
  await api.db.sql('delete from provider_reports');
  expect((await post(SECRETS.ana, senders.ana, { id: '200', changes })).status).toBe(503);
  expect(await count()).toBe(0);
  expect((await post(SECRETS.ana, senders.ana, { id: '200', changes: fewer })).status).toBe(200);
  expect(await count()).toBe(10_000);
  await api.db.sql('delete from provider_reports');
});

const deny = (messageId: string): object =>
  messages({
    messages: [
      {
        type: 'button',
        button: { payload: 'DID_NOT_REQUEST_CODE' },
        context: { id: messageId },
        timestamp: '1',
      },
    ],
  });

it('denials from an account’s app are stored only for messages of its own senders', async () => {
  const [own, others] = [await message(ana, senders.ana), await message(rui, senders.rui)];
  await post(SECRETS.ana, senders.ana, deny(own.messageId), deny(others.messageId), deny('wamid.unknown'));
  expect(await stored('denial', own.messageId)).toBe(1);
  expect(await stored('denial', others.messageId)).toBe(0);
  expect(await stored('denial', 'wamid.unknown')).toBe(0);
});

it('receipts are dropped for messages that the sender sent while it belonged to another account', async () => {
  const { database } = api.db;
  const sender = await ownSender(rui, SECRETS.rui);
  const [left, leaves] = [await message(rui, sender), await message(rui, sender, 'leaves')];
  await assignSender(database, TEST_ACTOR, sender.id, { accountId: ana.accountId, applicationIds: [] });
  await setAppSecret(sender.id, SECRETS.ana);
  const own = await message(ana, sender);
  const posted = receipts(left.receipt, leaves.receipt, own.receipt);
  expect((await post(SECRETS.ana, sender, posted, deny(left.messageId))).status).toBe(200);
  for (const { messageId } of [left, leaves]) expect(await stored('receipt', messageId)).toBe(0);
  expect(await stored('denial', left.messageId)).toBe(0);
  expect(await stored('receipt', own.messageId)).toBe(1);
});

it('changes are stored only for business accounts without senders of other accounts', async () => {
  const change = (id: string): object => ({
    id,
    time: 1_767_225_600,
    changes: [{ field: 'account_update', value: { event: 'DISABLED_UPDATE' } }],
  });
  const accounts = async (): Promise<unknown[]> =>
    (
      await api.db.sql<{ id: string }>(
        `select report ->> 'businessAccountId' as id from provider_reports where kind = 'change' order by 1`,
      )
    ).map(({ id }) => id);
  await post(SECRETS.ana, senders.ana, ...['100', '200', '300', '400'].map(change));
  expect(await accounts()).toEqual(['200']);
  // If senders of two accounts claim the same business account, its changes are stored for neither.
  const claimed = await ownSender(rui, SECRETS.rui, { businessAccountId: '200' });
  await post(SECRETS.rui, claimed, change('200'), change('300'));
  expect(await accounts()).toEqual(['200', '300']);
});

it('posts of an account’s app do not change the business account of a number', async () => {
  const { phoneNumberId, id } = await buildSender(api.db.database);
  await post(SECRETS.ana, senders.ana, messages({ metadata: { phone_number_id: phoneNumberId } }, '666'));
  const [row] = await api.db.sql('select business_account_id from senders where id = $1', [id]);
  expect(row).toEqual({ business_account_id: null });
});

it('each sender’s address accepts only the secret of its app, and the shared address accepts the shared secret', async () => {
  const { messageId, receipt } = await message(ana, senders.ana);
  const crossed = [
    await post(SECRETS.ana, senders.rui, receipts(receipt)),
    await post(SECRETS.ana, null, receipts(receipt)),
    await post(APP_SECRET, senders.ana, receipts(receipt)),
    await post('', senders.ana, receipts(receipt)),
  ];
  expect(crossed.map(({ json }) => (json as { code: string }).code)).toEqual(
    Array(4).fill('invalid_signature'),
  );
  expect(await stored('receipt', messageId)).toBe(0);
  expect((await post(APP_SECRET, null, receipts(receipt))).status).toBe(200);
  expect(await stored('receipt', messageId)).toBe(1);
});

it('the address of a sender without an app, of a removed sender or of no sender is not found', async () => {
  const { database } = api.db;
  const removed = await ownSender(ana, SECRETS.ana);
  await removeSender(database, TEST_ACTOR, removed.id);
  const moved = await ownSender(ana, SECRETS.ana);
  await assignSender(database, TEST_ACTOR, moved.id, { accountId: rui.accountId, applicationIds: [] });
  for (const id of [shared.id, removed.id, moved.id, randomUUID(), 'x', '%00', `${senders.ana.id}x`]) {
    const answer = await post(SECRETS.ana, { id });
    expect([id, answer.json]).toMatchObject([id, { status: id === '%00' ? answer.status : 404 }]);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  }
});

it('the handshake accepts only the verify token of the sender and its secret', async () => {
  const shake = async (token: string): Promise<RawAnswer> =>
    rawRequest(
      api.port,
      'GET',
      `${pathOf(senders.ana.id)}?${String(new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.challenge': '42', 'hub.verify_token': token }))}`,
    );
  expect(await shake(verifyTokenOf(SECRETS.ana, senders.ana.id))).toMatchObject({ status: 200, body: '42' });
  for (const token of [VERIFY_TOKEN, SECRETS.ana, verifyTokenOf(SECRETS.ana, senders.rui.id), ''])
    expect((await shake(token)).json).toMatchObject({ code: 'forbidden' });
});

it('the secret of an app is encrypted, cannot be set by another account, and stops working after its removal', async () => {
  const { database } = api.db;
  const [row] = await api.db.sql<{ text: string }>(
    'select senders::text as text from senders where id = $1',
    [senders.rui.id],
  );
  expect(row!.text).not.toContain(SECRETS.rui);
  const key = { id: senders.rui.id, accountId: ana.accountId };
  expect(await setAppSecret(key, SECRETS.ana)).toBeNull();
  expect(await findOwnApp(database, TEST_SECRET_KEY, senders.rui.id)).toEqual({
    accountId: rui.accountId,
    secret: SECRETS.rui,
  });
  expect(await setAppSecret(senders.rui.id, null)).not.toBeNull();
  expect((await post(SECRETS.rui, senders.rui)).status).toBe(404);
});
