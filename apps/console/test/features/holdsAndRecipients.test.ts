import { newId } from '@onecode/store/client';
import { listAuditEntries } from '@onecode/store/operations';
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

  it('are set with a reason, show how many sends wait, and are released', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { name: 'Loja Azul', credits: 9 });
    const other = await buildCaller(database, 'live', { credits: 9 });
    for (const one of [caller, caller, other]) await buildSend(database, one);
    await server.db.sql("update sends set phase = 'waiting'");

    const targets = [
      { kind: 'live', target: '' },
      { kind: 'country', target: 'BR' },
      { kind: 'account', target: caller.accountId },
      // Numbers without a country.
      { kind: 'country', target: 'ZZ' },
    ];
    for (const one of targets)
      expect((await onCall.post('/staff/holds', { ...one, reason: 'a test' })).status).toBe(204);

    const held = { reason: 'a test', since: expect.any(String), setBy: onCall.email };
    expect(await show()).toEqual({
      holds: [
        { kind: 'live', target: '', accountName: null, waiting: 3, ...held },
        { kind: 'country', target: 'BR', accountName: null, waiting: 3, ...held },
        { kind: 'account', target: caller.accountId, accountName: 'Loja Azul', waiting: 2, ...held },
        { kind: 'country', target: 'ZZ', accountName: null, waiting: 0, ...held },
      ],
      waiting: 3,
    });
    const { body } = await onCall.get(`/staff/accounts/${caller.accountId}`);
    expect(body.held).toBe(true);

    const release = async (one: object): Promise<number> =>
      (await onCall.post('/staff/holds/release', { ...one, reason: 'over' })).status;
    for (const one of targets) expect(await release(one)).toBe(204);
    expect((await show()).holds).toEqual([]);
    expect(await latest()).toMatchObject({
      action: 'hold.release',
      details: { reason: 'a test', releaseReason: 'over' },
    });
    expect(await release(targets[0]!)).toBe(404);
  });

  it.each([
    [{ kind: 'live', target: 'BR', reason: 'why' }, { target: 'format' }],
    [{ kind: 'country', target: 'XX', reason: 'why' }, { target: 'format' }],
    [{ kind: 'country', target: 'br', reason: 'why' }, { target: 'format' }],
    [{ kind: 'account', target: 'BR', reason: 'why' }, { target: 'format' }],
    [{ kind: 'account', target: newId(), reason: 'why' }, { target: 'unknown' }],
    [{ kind: 'live', target: '' }, { reason: 'required' }],
  ])('are not set by the invalid input %j', async (body, errors) => {
    const last = await latest();

    expect(await operator.post('/staff/holds', body)).toMatchObject({ status: 422, body: { errors } });

    expect((await show()).holds).toEqual([]);
    expect(await latest()).toEqual(last);
  });
});

describe('recipients', () => {
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

  const sendTo = async (accountId: string, recipient: string): Promise<string> => {
    const caller = await buildCaller(server.db.database, 'live', { id: accountId });
    return buildSend(server.db.database, caller, { recipient });
  };

  /** Creates a recipient with this many wrong codes in a row. */
  async function guessedAt(
    accountId: string,
    recipient: string,
    { wrong = 100, secondsAgo = 0 } = {},
  ): Promise<string> {
    const [row] = await server.db.sql<{ id: string }>(
      `insert into guess_budgets (account_id, mode, recipient_key, points, last_wrong_at)
       select account_id, mode, recipient_key, $2, clock_timestamp() - make_interval(secs => $3) from sends where id = $1 returning id`,
      [await sendTo(accountId, recipient), wrong, secondsAgo],
    );
    return row!.id;
  }

  const list = async (who: TestPerson, path: string): Promise<ExhaustedRecipientsView> =>
    (await who.get<ExhaustedRecipientsView>(`${path}/exhausted-recipients`)).body;

  describe.each([
    ['the team', 'accounts', 'viewer', 'admin'],
    ['the staff', 'staff/accounts', 'on_call', 'operator'],
  ] as const)('for %s', (_, path, sees, manages) => {
    const below = (): string => `/${path}/${account}`;

    it('are exported and erased in this account only', async () => {
      const number = '+5511987654321';
      const [id, foreign] = [await sendTo(account, number), await sendTo(other, number)];
      // As users paste it, without the ninth digit.
      const recipient = 'https://wa.me/551187654321';
      const exported = await people[manages].post(`${below()}/recipients/export`, { recipient });
      expect(exported.body).toMatchObject({
        sends: expect.arrayContaining([expect.objectContaining({ id, recipient: number })]),
      });
      expect(JSON.stringify(exported.body)).not.toContain(foreign);

      const erasure = { recipient, reason: 'Request 17 of (11) 8765-4321' };
      const own = 'select from sends where account_id = $1 and recipient = $2';
      const { length } = await server.db.sql(own, [account, number]);
      const { body } = await people[manages].post(`${below()}/recipients/erase`, erasure);
      expect(body).toEqual({ sendsErased: length, codesEnded: length });
      const recipients = 'select recipient from sends where id = any ($1) order by account_id = $2';
      expect(await server.db.sql(recipients, [[id, foreign], account])).toEqual([
        { recipient: number },
        { recipient: '+55 ••••• 4321' },
      ]);
      const [entry] = await listAuditEntries(server.db.database, { limit: 1 });
      const actor = { id: people[manages].id };
      const details = { reason: 'Request 17 of (+55 ••••• 4321' };
      expect(entry).toMatchObject({ action: 'recipient.erase', actor, details });
      expect(JSON.stringify(entry)).not.toContain('87654321');
    });

    it('are listed with their last digits only and the end of the block when they are blocked', async () => {
      await guessedAt(account, '+5511987654321');
      await guessedAt(account, '+5511987650000', { wrong: 3 });
      await guessedAt(other, '+5511987651111');
      const { recipients } = await list(people[sees], below());
      expect(recipients).toMatchObject([{ mode: 'live', recipient: '+55 ••••• 4321', wrongInARow: 100 }]);
      expect(JSON.stringify(recipients)).not.toContain('987654321');
      expect(Date.parse(recipients[0]!.recoversAt)).toBeGreaterThan(Date.now());
    });

    it('are listed in the order of their latest wrong codes when they are blocked', async () => {
      for (const one of [1, 2, 3]) await guessedAt(account, `+551198765000${one}`, { secondsAgo: 9 - one });
      const { recipients } = await list(people[sees], below());
      const seen = recipients.map(({ recipient }) => recipient);
      expect(seen).toEqual(['+55 ••••• 0003', '+55 ••••• 0002', '+55 ••••• 0001']);
    });

    it('are listed with an entry in the audit log for staff, and without one for members', async () => {
      await guessedAt(account, '+5511987654321');
      await server.db.sql('delete from counted_tries');
      const reads = () => listAuditEntries(server.db.database, { limit: 100, actionPrefix: 'account.read' });
      const before = (await reads()).length;
      await list(people[sees], below());
      const isStaff = sees === 'on_call';
      expect((await reads()).length - before).toBe(isStaff ? 1 : 0);
    });

    it('are reset in their own account only', async () => {
      const foreign = await guessedAt(other, '+5511987651111');
      const answer = await people[manages].post(`${below()}/exhausted-recipients/${foreign}/reset`);
      expect(answer.status).toBe(404);
      expect(await server.db.sql('select id from guess_budgets')).toHaveLength(1);
    });

    it('are reset with the last digits in the audit log', async () => {
      const id = await guessedAt(account, '+5511987654321');
      const address = `${below()}/exhausted-recipients/${id}/reset`;
      expect((await people[manages].post(address)).status).toBe(204);
      expect((await list(people[sees], below())).recipients).toEqual([]);
      expect(await listAuditEntries(server.db.database, { limit: 1 })).toMatchObject([
        {
          action: 'account.reset_recipient',
          accountId: account,
          actor: { id: people[manages].id },
          details: { recipientEndsWith: '4321' },
        },
      ]);
      expect(await people[manages].post(address)).toMatchObject({ status: 404 });
    });
  });
});
