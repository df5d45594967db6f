import { readDueWork, type DueWork } from '@onecode/store/operations';
import { storeReports } from '@onecode/store/sends';
import { buildCaller, buildSend, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';
import { sendActions } from '../sends/sendActions.js';

const store = useTestDatabase();
const { waiting } = sendActions(store);

const NOTHING: DueWork = { deliveries: false, reports: false, readings: false, mails: false, events: false };
const read = (): Promise<DueWork> => readDueWork(store.database);

let caller: TestCaller;
beforeEach(async () => {
  await store.sql('truncate sends, senders, provider_reports, outbox cascade');
  caller = await buildCaller(store.database, 'live');
});

const occurredAt = new Date();
const RECEIPT = {
  messageId: 'wamid.1',
  attempt: null,
  status: 'delivered',
  occurredAt,
  failure: null,
} as const;
const REPORTS = { receipts: [RECEIPT], denials: [], changes: [] };
const insertEntry = (columns: string, values: string) =>
  store.sql(
    `insert into outbox (id, event, kind, gives_up_at, recipient, ${columns})
     values (gen_random_uuid(), 'e', 'k', now() + interval '1 day', ${values})`,
  );

it.each<[string, keyof DueWork, string, () => Promise<unknown>]>([
  ['a send', 'deliveries', 'sends.due_at', () => buildSend(store.database, caller)],
  ['a reading', 'readings', 'senders.read_due_at', () => buildSender(store.database)],
  ['a mail', 'mails', 'outbox.due_at', () => insertEntry('language', `'a@b.test', 'en'`)],
  [
    'an event',
    'events',
    'outbox.due_at',
    async () => {
      const { accountId } = caller;
      await store.sql(
        `insert into event_webhooks (account_id, url, encrypted_secret) values ($1, 'https://a.test', '\\x00')`,
        [accountId],
      );
      await insertEntry('account_id', `'${accountId}', '${accountId}'`);
    },
  ],
])('readDueWork reports %s that is due: %s', async (_, work, column, make) => {
  const [table, name] = column.split('.') as [string, string];
  await make();
  expect(await read()).toEqual({ ...NOTHING, [work]: true });
  await store.sql(`update ${table} set ${name} = now() + interval '30 seconds'`);
  expect(await read()).toEqual(NOTHING);
});

it('readDueWork reports a send up to a second before it is due, because its loop runs more often', async () => {
  await buildSend(store.database, caller);
  await store.sql(`update sends set due_at = now() + interval '800 milliseconds'`);
  expect(await read()).toEqual({ ...NOTHING, deliveries: true });
});

it('readDueWork reports a report that has been due for a second, because its job is missing', async () => {
  await storeReports(store.database, REPORTS, null);
  expect(await read()).toEqual(NOTHING);
  await store.sql(`update provider_reports set due_at = now() - interval '1 second'`);
  expect(await read()).toEqual({ ...NOTHING, reports: true });
});

it('readDueWork reports a send that waits for a sender', async () => {
  await waiting(caller);
  expect(await read()).toEqual({ ...NOTHING, deliveries: true });
});
