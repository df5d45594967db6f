import { createApiKey } from '@onecode/store/accounts';
import {
  buildAccount,
  buildCaller,
  buildSend,
  buildSender,
  refuseRequests,
  TEST_ACTOR,
  type TestCaller,
} from '@onecode/testing';
import { createHash, randomUUID } from 'node:crypto';
import type { SearchView } from '../../src/features/search/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let ours: TestCaller;
let member: TestPerson;
let onCall: TestPerson;
const [request, refused] = [randomUUID(), randomUUID()];
const ids: Record<string, string> = {};
let key: string;

beforeAll(async () => {
  const { database } = server.db;
  ours = await buildCaller(database, 'live', { credits: 5 });
  const theirs = await buildCaller(database, 'live', { credits: 5 });
  member = await person(server, { accounts: { [ours.accountId]: 'viewer' }, email: 'bia@example.com' });
  onCall = await person(server, { staff: 'on_call' });
  const sent = { recipient: '+5511987654321', idempotencyKey: 'order-7' };
  ids['send'] = await buildSend(database, ours, { ...sent, requestId: request });
  ids['theirs'] = await buildSend(database, theirs, sent);
  const idempotencyKeyHash = createHash('sha256').update('order-8').digest();
  await refuseRequests(database, ours, 'rate_limited', [
    { requestId: refused, status: 429, detail: 'A limit.', idempotencyKeyHash },
  ]);
  const made = await createApiKey(database, TEST_ACTOR, ours.applicationId, { name: 'Server' });
  key = made!.key;
  ids['key'] = made!.id;
  ids['named'] = await buildAccount(database, { name: 'Padaria Estrela' });
  const sender = await buildSender(database);
  ids['sender'] = sender.id;
  ids['number'] = sender.number;
});

const searchBy = async (who: TestPerson, text: string): Promise<string[]> => {
  const path = who === onCall ? '/staff/search' : `/accounts/${ours.accountId}/search`;
  const { status, body } = await who.post<SearchView>(path, { text });
  expect(status).toBe(200);
  return body.found.map(({ kind, id }) => `${kind} ${id}`);
};

describe('the search', () => {
  it.each<[string, () => string, () => string]>([
    ['a send by its id', () => ids['send']!.toUpperCase(), () => `send ${ids['send']}`],
    ['a send by its request', () => ` ${request} `, () => `send ${ids['send']}`],
    ['a send by its idempotency key', () => 'order-7', () => `send ${ids['send']}`],
    ['sends by a whole number', () => '+55 (11) 98765-4321', () => `send ${ids['send']}`],
    ['sends by a link to a chat', () => 'https://wa.me/5511987654321', () => `send ${ids['send']}`],
    ['sends by a national number', () => '011 98765-4321', () => `send ${ids['send']}`],
    ['sends by the last four digits', () => '4321', () => `send ${ids['send']}`],
    ['a refused request by its id', () => refused, () => `request ${refused}`],
    ['a refused request by its idempotency key', () => 'order-8', () => `request ${refused}`],
    ['a key by its last four characters', () => key.slice(-4), () => `key ${ids['key']}`],
    ['a key that is whole', () => key, () => `key ${ids['key']}`],
  ])('finds %s in the account only', async (_, text, found) => {
    expect(await searchBy(member, text())).toEqual([found()]);
  });

  it.each<[string, () => string, () => string[]]>([
    ['an account by its name', () => 'padaria', () => [`account ${ids['named']}`]],
    ['an account by a member’s email', () => 'Bia@example.com', () => [`account ${ours.accountId}`]],
    ['a sender by its number', () => ids['number']!, () => [`sender ${ids['sender']}`]],
    ['a send by its request', () => request, () => [`send ${ids['send']}`]],
    ['a key by its last four characters', () => key.slice(-4), () => [`key ${ids['key']}`]],
    [
      'sends of all accounts by an idempotency key',
      () => 'order-7',
      () => [`send ${ids['theirs']}`, `send ${ids['send']}`],
    ],
    ['no sends by a number', () => '+5511987654321', () => []],
  ])('finds %s for staff', async (_, text, found) => {
    expect(await searchBy(onCall, text())).toEqual(found());
  });

  it('does not show staff the recipient of a send', async () => {
    const { body } = await onCall.post<SearchView>('/staff/search', { text: ids['send'] });
    expect(body.found).toMatchObject([{ kind: 'send', recipientMasked: null }]);
    expect(JSON.stringify(body)).not.toContain('4321');
  });
});
