import { listAuditEntries, newId } from '@onecode/store';
import { buildAccount, buildCaller, buildSend } from '@onecode/testing';
import type { HoldsView } from '../../src/features/holds/view.js';
import type { ExhaustedRecipientsView } from '../../src/features/recipients/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();

describe('holds', () => {
  let operator: TestPerson;
  let onCall: TestPerson;
  beforeAll(async () => {
    operator = await person(server, { staff: 'operator' });
    onCall = await person(server, { staff: 'on_call' });
  });

  const show = async (): Promise<HoldsView> => (await onCall.get<HoldsView>('/staff/holds')).body;
  const latest = async () => (await listAuditEntries(server.db.database, { limit: 1 }))[0];

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

describe('recipients whose guess budget is used up', () => {
  let account: string;
  let other: string;
  let people: Record<'viewer' | 'admin' | 'operator' | 'on_call', TestPerson>;

  beforeAll(async () => {
    account = await buildAccount(server.db.database, { name: 'Loja Azul', credits: 100 });
    other = await buildAccount(server.db.database, { name: 'Loja Roxa', credits: 100 });
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
    const caller = await buildCaller(server.db.database, 'live', { id: accountId });
    const [row] = await server.db.sql<{ id: string }>(
      `insert into guess_budgets (account_id, mode, recipient_key, points, last_wrong_at)
       select account_id, mode, recipient_key, $2, clock_timestamp() - make_interval(secs => $3) from sends where id = $1 returning id`,
      [await buildSend(server.db.database, caller, { recipient }), wrong, secondsAgo],
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
});
