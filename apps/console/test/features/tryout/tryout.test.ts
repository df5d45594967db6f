import { randomBytes } from 'node:crypto';
import { newId } from '@onecode/store';
import { buildCaller } from '@onecode/testing';
import { proofOf } from '../../../src/features/tryout/proof.js';
import type { TryoutSendView, TryoutView } from '../../../src/features/tryout/view.js';
import { useConsole } from '../../console.js';
import { person, type Answer } from '../../people.js';

const SESSION_SECRET = randomBytes(32).toString('base64');
/** Without an API: each call that is made ends in an exchange without an answer. */
const server = useConsole({ SESSION_SECRET });
const RECIPIENT = '+5511987654321';

async function application(mode: 'test' | 'live') {
  const { accountId, applicationId } = await buildCaller(server.db.database, mode);
  return { accountId, applicationId, path: `/accounts/${accountId}/applications/${applicationId}/tryout` };
}
const entriesOf = (accountId: string) =>
  server.db.sql<{ action: string; details: object }>(
    `select action, details from audit_entries where account_id = $1 and action like '%try%' or
     account_id = $1 and action like 'key.%' and actor_kind = 'user' order by id`,
    [accountId],
  );
const contentOf = ({ status, body }: Answer): string => JSON.stringify([status, body]);

describe('trying an application', () => {
  it.each(['developer', 'admin'] as const)('is for its %s', async (role) => {
    const { accountId, path } = await application('test');
    const who = await person(server, { accounts: { [accountId]: role } });
    expect((await who.get(path)).status).toBe(200);
    expect((await who.post(`${path}/send`, { to: RECIPIENT })).status).toBe(200);
  });

  it('is not for a viewer', async () => {
    const { accountId, path } = await application('test');
    const viewer = await person(server, { accounts: { [accountId]: 'viewer' } });
    for (const answer of [await viewer.get(path), await viewer.post(`${path}/send`, { to: RECIPIENT })])
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await entriesOf(accountId)).toEqual([]);
  });

  it('is in the audit log once, with the last digits of the number and nothing else of it', async () => {
    const { accountId, path } = await application('test');
    const who = await person(server, { accounts: { [accountId]: 'developer' } });
    await who.post(`${path}/send`, { to: RECIPIENT, code: '4217' });
    await who.post(`${path}/send`, { to: 'ana@example.com' });
    expect(await entriesOf(accountId)).toEqual([
      { action: 'application.try_send', details: { mode: 'test', recipientEndsWith: '4321' } },
      { action: 'application.try_send', details: { mode: 'test' } },
    ]);
  });

  it.each([
    ['live', { to: RECIPIENT }, { isLive: 'mode' }],
    ['test', { to: RECIPIENT, isLive: true }, { isLive: 'mode' }],
    ['live', { to: RECIPIENT, isLive: true, code: '4217' }, { code: 'mode' }],
  ] as const)('of mode %s refuses %j before anything is sent', async (mode, body, errors) => {
    const { accountId, path } = await application(mode);
    const who = await person(server, { accounts: { [accountId]: 'developer' } });
    expect(await who.post(`${path}/send`, body)).toMatchObject({
      status: 422,
      body: { code: 'invalid_input', errors },
    });
    expect(await entriesOf(accountId)).toEqual([]);
  });

  it('of mode live is possible for who says that it is', async () => {
    const { accountId, path } = await application('live');
    const who = await person(server, { accounts: { [accountId]: 'developer' } });
    const { body } = await who.post<TryoutSendView>(`${path}/send`, { to: RECIPIENT, isLive: true });
    expect(body).toMatchObject({ send: null, exchange: { fault: 'unreachable' } });
    expect(JSON.stringify(body)).not.toContain(RECIPIENT);
  });

  it('ends after a few sends in a minute, for this person in all of their applications', async () => {
    const [one, other] = [await application('test'), await application('test')];
    const accounts = { [one.accountId]: 'admin', [other.accountId]: 'admin' } as const;
    const who = await person(server, { accounts });
    const statuses: number[] = [];
    // A minute that ends in between begins a new count; the second minute cannot end as well.
    for (let tries = 0; tries < 14; tries++)
      statuses.push((await who.post(`${[one, other][tries % 2]!.path}/send`, { to: RECIPIENT })).status);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const made = [...(await entriesOf(one.accountId)), ...(await entriesOf(other.accountId))];
    expect(made).toHaveLength(statuses.filter((status) => status === 200).length);
    const colleague = await person(server, { accounts });
    expect((await colleague.post(`${one.path}/send`, { to: RECIPIENT })).status).toBe(200);
  });
});

describe('a send that was tried', () => {
  it('can be looked at and verified by who created it there; to others it does not exist', async () => {
    const [here, elsewhere] = [await application('test'), await application('test')];
    const accounts = { [here.accountId]: 'admin', [elsewhere.accountId]: 'admin' } as const;
    const [ana, ben] = [await person(server, { accounts }), await person(server, { accounts })];
    const send = newId();
    const proof = proofOf(SESSION_SECRET, {
      userId: ana.id,
      applicationId: here.applicationId,
      sendId: send,
    });
    for (const [call, more] of [
      ['status', {}],
      ['verify', { code: '000000' }],
    ] as const) {
      const own = await ana.post(`${here.path}/${call}`, { send, proof, ...more });
      expect(own).toMatchObject({ status: 200, body: { exchange: { fault: 'unreachable' } } });
      const refused = [
        await ben.post(`${here.path}/${call}`, { send, proof, ...more }),
        await ana.post(`${elsewhere.path}/${call}`, { send, proof, ...more }),
        await ana.post(`${here.path}/${call}`, { send: newId(), proof, ...more }),
        await ana.post(`${here.path}/${call}`, { send, proof: 'none', ...more }),
      ];
      const unknown = await ana.get(`/accounts/${here.accountId}/applications/${newId()}`);
      for (const answer of refused) expect(contentOf(answer)).toBe(contentOf(unknown));
    }
  });
});

describe('the samples', () => {
  it('are of the application in the path, in the language of who reads them, and hold no number of theirs', async () => {
    const { accountId, applicationId, path } = await application('live');
    const who = await person(server, { accounts: { [accountId]: 'developer' } });
    await who.put('/profile', { name: 'Ana', language: 'pt-BR' });
    const { body } = await who.get<TryoutView>(path);
    expect(body.samples.map(({ label }) => label)).toEqual(['curl', 'Node', 'Python', 'PHP', 'Go', 'Java']);
    for (const { code } of body.samples) {
      expect(code).toContain(`ONECODE_API_KEY: uma chave de produção da aplicação ${applicationId}`);
      expect(code).toContain('https://api.example.test');
      expect(code).toContain('+447700900123');
    }
    const { body: tried } = await who.post<TryoutSendView>(`${path}/send`, {
      to: RECIPIENT,
      locale: 'en',
      isLive: true,
    });
    for (const { code } of tried.samples) {
      expect(code).toMatch(/locale.*en/);
      expect(code).not.toContain(RECIPIENT);
    }
  });
});
