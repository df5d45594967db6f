import { listAuditEntries } from '@onecode/store';
import { buildAccount } from '@onecode/testing';
import type { ExhaustedRecipientsView } from '../../src/features/recipients/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let account: string;
let other: string;
let people: Record<'viewer' | 'admin' | 'operator' | 'on_call', TestPerson>;

beforeAll(async () => {
  account = await buildAccount(server.db.database, { name: 'Loja Azul' });
  other = await buildAccount(server.db.database, { name: 'Loja Roxa' });
  people = {
    viewer: await person(server, { accounts: { [account]: 'viewer' } }),
    admin: await person(server, { accounts: { [account]: 'admin' } }),
    operator: await person(server, { staff: 'operator' }),
    on_call: await person(server, { staff: 'on_call' }),
  };
});

afterEach(() => server.db.sql('delete from guess_budgets'));

/** A recipient for whom so many wrong codes in a row were given. */
async function guessedAt(
  accountId: string,
  recipient: string,
  { wrong = 100, secondsAgo = 0 } = {},
): Promise<string> {
  const [row] = await server.db.sql<{ id: string }>(
    `insert into guess_budgets (account_id, mode, recipient, points, last_wrong_at)
     values ($1, 'live', $2, $3, clock_timestamp() - make_interval(secs => $4)) returning id`,
    [accountId, recipient, wrong, secondsAgo],
  );
  return row!.id;
}

const list = async (who: TestPerson, path: string): Promise<ExhaustedRecipientsView> =>
  (await who.get<ExhaustedRecipientsView>(`${path}/exhausted-recipients`)).body;

describe.each([
  ['the team', 'accounts', 'viewer', 'admin'],
  ['the staff', 'staff/accounts', 'on_call', 'operator'],
] as const)('recipients who are refused, for %s,', (_, path, sees, resets) => {
  const below = (): string => `/${path}/${account}`;

  it('are listed with their last digits alone, and with when they recover', async () => {
    await guessedAt(account, '+5511987654321');
    await guessedAt(account, '+5511987650000', { wrong: 3 });
    await guessedAt(other, '+5511987651111');
    const { recipients } = await list(people[sees], below());
    expect(recipients).toEqual([
      {
        id: expect.any(String),
        mode: 'live',
        recipient: '+55 ••••• 4321',
        wrongInARow: 100,
        lastWrongAt: expect.any(String),
        recoversAt: expect.any(String),
      },
    ]);
    expect(Date.parse(recipients[0]!.recoversAt)).toBeGreaterThan(Date.now());
  });

  it('are listed page by page', async () => {
    for (const one of [1, 2, 3]) await guessedAt(account, `+551198765000${one}`, { secondsAgo: 9 - one });
    const seen: string[] = [];
    let before = '';
    for (;;) {
      const { body } = await people[sees].get<ExhaustedRecipientsView>(
        `${below()}/exhausted-recipients?limit=2${before}`,
      );
      seen.push(...body.recipients.map(({ recipient }) => recipient));
      if (body.next === null) break;
      before = `&before=${body.next}`;
    }
    expect(seen).toEqual(['+55 ••••• 0003', '+55 ••••• 0002', '+55 ••••• 0001']);
  });

  it('are reset at their own account only', async () => {
    const foreign = await guessedAt(other, '+5511987651111');
    const answer = await people[resets].post(`${below()}/exhausted-recipients/${foreign}/reset`);
    expect(answer.status).toBe(404);
    expect(await server.db.sql('select id from guess_budgets')).toHaveLength(1);
  });

  it('are reset, which the audit log tells with the last digits', async () => {
    const id = await guessedAt(account, '+5511987654321');
    const address = `${below()}/exhausted-recipients/${id}/reset`;
    expect((await people[resets].post(address)).status).toBe(204);
    expect((await list(people[sees], below())).recipients).toEqual([]);
    expect(await listAuditEntries(server.db.database, { limit: 1 })).toMatchObject([
      {
        action: 'account.reset_recipient',
        accountId: account,
        actor: { id: people[resets].id },
        details: { recipientEndsWith: '4321' },
      },
    ]);
    expect(await people[resets].post(address)).toMatchObject({ status: 404 });
  });
});
