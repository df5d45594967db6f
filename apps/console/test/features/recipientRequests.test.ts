import { findAccount, listAuditEntries } from '@onecode/store';
import { buildAccount, buildCaller, buildSend, type TestCaller } from '@onecode/testing';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
const NUMBER = '+5511987654321';
/** As people paste it, in the form without the ninth digit. */
const TYPED = 'https://wa.me/551187654321';

describe('a person who asks about their number', () => {
  let account: string;
  let caller: TestCaller;
  let foreign: string;
  let people: Record<'admin' | 'operator', TestPerson>;
  beforeAll(async () => {
    const { database } = server.db;
    account = await buildAccount(database, { credits: 10 });
    caller = await buildCaller(database, 'live', { id: account });
    foreign = await buildSend(database, await buildCaller(database, 'live', { credits: 1 }), {
      recipient: NUMBER,
    });
    people = {
      admin: await person(server, { accounts: { [account]: 'admin' } }),
      operator: await person(server, { staff: 'operator' }),
    };
  });

  const recipientOf = async (id: string): Promise<string> =>
    (await server.db.sql<{ recipient: string }>('select recipient from sends where id = $1', [id]))[0]!
      .recipient;

  it.each([
    ['an admin', 'admin', 'accounts'],
    ['an operator', 'operator', 'staff/accounts'],
  ] as const)('is told and forgotten by %s, in one account', async (_, who, path) => {
    const id = await buildSend(server.db.database, caller, { recipient: NUMBER });
    const below = `/${path}/${account}/recipients`;

    const kept = await people[who].post(`${below}/export`, { recipient: TYPED });
    expect(kept.status).toBe(200);
    const sends = (kept.body as { sends: { id: string; recipient: string }[] }).sends;
    expect(sends.find((send) => send.id === id)).toMatchObject({ recipient: NUMBER });
    expect(JSON.stringify(kept.body)).not.toContain(foreign);

    const before = await findAccount(server.db.database, account);
    expect(
      await people[who].post(`${below}/erase`, { recipient: TYPED, reason: 'Request 17' }),
    ).toMatchObject({ status: 200, body: { sendsErased: 1, codesEnded: 1 } });
    expect(await recipientOf(id)).toBe('+55 ••••• 4321');
    expect(await recipientOf(foreign)).toBe(NUMBER);
    expect(await findAccount(server.db.database, account)).toEqual(before);
    const [entry] = await listAuditEntries(server.db.database, { limit: 1 });
    expect(entry).toMatchObject({
      action: 'recipient.erase',
      accountId: account,
      actor: { id: people[who].id },
      details: { reason: 'Request 17', sends: 1, codesEnded: 1 },
    });
    expect(JSON.stringify(entry)).not.toContain('87654321');
  });

  it('is not found by what is no number', async () => {
    for (const what of ['export', 'erase'])
      expect(
        await people.admin.post(`/accounts/${account}/recipients/${what}`, {
          recipient: '12345',
          ...(what === 'erase' && { reason: 'Request 17' }),
        }),
      ).toMatchObject({ status: 422, body: { errors: { recipient: 'phone' } } });
  });
});
