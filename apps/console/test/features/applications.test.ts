import { hashApiKey } from '@onecode/domain';
import { findCaller } from '@onecode/store/accounts';
import { newId } from '@onecode/store/client';
import { buildAccount, tableContents } from '@onecode/testing';
import { listAuditEntries } from '@onecode/store/operations';
import type {
  ApplicationView,
  KeyNoticeView,
  KeyView,
  NewKeyView,
} from '../../src/features/applications/view.js';
import type { BalanceAlertView } from '../../src/features/ledger/view.js';
import type { WebhookSecretView, WebhookView } from '../../src/features/webhook/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

describe('applications', () => {
  const server = useConsole();
  let account: string;
  let developer: TestPerson;
  let viewer: TestPerson;
  beforeAll(async () => {
    account = await buildAccount(server.db.database);
    developer = await person(server, { accounts: { [account]: 'developer' } });
    viewer = await person(server, { accounts: { [account]: 'viewer' } });
  });

  const of = (accountId: string) => `/accounts/${accountId}/applications`;

  async function makeApplication(mode: 'test' | 'live' = 'test', name = 'Shop'): Promise<string> {
    const { status, body } = await developer.post<{ id: string }>(of(account), { name, mode });
    expect(status).toBe(200);
    return body.id;
  }

  async function makeKey(application: string, body: object = {}): Promise<NewKeyView> {
    const answer = await developer.post<NewKeyView>(`${of(account)}/${application}/keys`, body);
    expect(answer.status).toBe(200);
    return answer.body;
  }

  const keysOf = async (application: string): Promise<KeyView[]> =>
    (await viewer.get<{ keys: KeyView[] }>(`${of(account)}/${application}/keys`)).body.keys;
  const read = async (application: string): Promise<ApplicationView> =>
    (await viewer.get<ApplicationView>(`${of(account)}/${application}`)).body;

  describe('an application', () => {
    it.each(['test', 'live'] as const)(
      'is created in %s mode with its limits off and no keys',
      async (mode) => {
        const id = await makeApplication(mode, '  Padaria do João  ');

        const expected = {
          id,
          name: 'Padaria do João',
          mode,
          limits: { perMinute: null, perRecipientHour: null },
          identityCheck: 'off',
          keysInUse: 0,
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        };
        expect(await read(id)).toEqual(expected);
        const list = await viewer.get<{ applications: ApplicationView[] }>(of(account));
        expect(list.body.applications).toContainEqual(expected);
      },
    );

    it('has the identity check that its developers set, and refuses an unknown one', async () => {
      const id = await makeApplication('live');
      const put = (identityCheck: string) =>
        developer.put(`${of(account)}/${id}/identity-check`, { identityCheck });
      expect((await put('observe')).status).toBe(204);
      expect((await put('on')).status).toBe(422);
      expect((await read(id)).identityCheck).toBe('observe');
    });

    it.each([
      [{}, { name: 'required', mode: 'required' }],
      [{ name: '   ', mode: 'test' }, { name: 'pattern' }],
      [{ name: 'a\u0000b', mode: 'test' }, { name: 'pattern' }],
      [{ name: 'x'.repeat(201), mode: 'test' }, { name: 'maxLength' }],
      [{ name: 'Shop', mode: 'test', accountId: newId() }, { body: 'additionalProperties' }],
    ])('is not created from %j', async (body, errors) => {
      expect(await developer.post(of(account), body)).toMatchObject({
        status: 422,
        body: { code: 'invalid_input', errors },
      });
    });

    it('is renamed, with the actor and the old name in the audit log', async () => {
      const id = await makeApplication('test', 'Old name');

      expect((await developer.put(`${of(account)}/${id}`, { name: 'New name' })).status).toBe(204);

      expect(await read(id)).toMatchObject({ name: 'New name', mode: 'test' });
      const [entry] = await server.db.sql<{ details: unknown }>(
        `select details from audit_entries where action = 'application.change' and subject = $1 and actor_id = $2`,
        [id, developer.id],
      );
      expect(entry?.details).toEqual({ before: { name: 'Old name' }, after: { name: 'New name' } });
    });

    it('keeps its limits when a change of limits is invalid', async () => {
      const id = await makeApplication();
      for (const limits of [
        { perMinute: 0, perRecipientHour: 5 },
        { perMinute: 60, perRecipientHour: 1_000_001 },
        { perMinute: 60 },
      ])
        expect((await developer.put(`${of(account)}/${id}/limits`, limits)).status).toBe(422);
      expect((await read(id)).limits).toEqual({ perMinute: null, perRecipientHour: null });
    });
  });

  describe('a key', () => {
    it('is accepted next to other keys until it is revoked, so that keys can be replaced without downtime', async () => {
      const application = await makeApplication();
      const before = await makeKey(application, { label: '  Server 1 ' });
      const after = await makeKey(application);
      expect((await read(application)).keysInUse).toBe(2);

      const revoke = `${of(account)}/${application}/keys/${before.id}/revoke`;
      expect((await developer.post(revoke)).status).toBe(204);

      expect(await findCaller(server.db.database, hashApiKey(before.key))).toMatchObject({
        state: 'revoked',
      });
      expect(await findCaller(server.db.database, hashApiKey(after.key))).toMatchObject({
        accountId: account,
        applicationId: application,
        state: 'valid',
      });
      expect((await read(application)).keysInUse).toBe(1);
      await server.db.sql(`update api_keys set last_used_at = '2026-11-01T12:00:00Z' where id = $1`, [
        after.id,
      ]);
      expect(await keysOf(application)).toEqual([
        {
          id: before.id,
          hint: expect.stringMatching(/^ak_test_/),
          label: 'Server 1',
          createdAt: expect.any(String),
          lastUsedAt: null,
          revokedAt: expect.any(String),
          expiresAt: null,
          state: 'revoked',
          notice: null,
        },
        expect.objectContaining({ id: after.id, label: null, lastUsedAt: '2026-11-01T12:00:00.000Z' }),
      ]);
    });

    it('is not revoked through another application', async () => {
      const [application, other] = [await makeApplication(), await makeApplication()];
      const { id } = await makeKey(application);
      expect((await developer.post(`${of(account)}/${other}/keys/${id}/revoke`)).status).toBe(404);
      expect(await keysOf(application)).toMatchObject([{ id, revokedAt: null }]);
    });

    describe('with an end', () => {
      const daysFromNow = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

      it('is created, and shown as expired afterwards', async () => {
        const application = await makeApplication();
        const expiresAt = daysFromNow(30);
        const { id } = await makeKey(application, { label: 'CI', expiresAt });
        expect(await keysOf(application)).toMatchObject([{ id, expiresAt, state: 'active', notice: null }]);
        expect((await read(application)).keysInUse).toBe(1);
        await server.db.sql(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [
          id,
        ]);
        expect(await keysOf(application)).toMatchObject([{ id, state: 'expired', revokedAt: null }]);
        expect((await read(application)).keysInUse).toBe(0);
        const [entry] = await server.db.sql<{ at: string }>(
          `select details ->> 'expiresAt' as at from audit_entries where action = 'key.create' and subject = $1`,
          [id],
        );
        expect(entry).toEqual({ at: expiresAt });
      });

      it.each([0.9, 3_651, -1])('is not created for %p days', async (days) => {
        const application = await makeApplication();
        expect(
          await developer.post(`${of(account)}/${application}/keys`, { expiresAt: daysFromNow(days) }),
        ).toMatchObject({ status: 422, body: { code: 'invalid_input', errors: { expiresAt: 'range' } } });
        expect(await keysOf(application)).toEqual([]);
      });
    });

    it('is reported to the account while it expires soon or is not used', async () => {
      const own = await buildAccount(server.db.database);
      const admin = await person(server, { accounts: { [own]: 'admin' } });
      const application = (await admin.post<{ id: string }>(of(own), { name: 'Shop', mode: 'live' })).body.id;
      const build = async (label: string, change: string): Promise<void> => {
        const { id } = (await admin.post<NewKeyView>(`${of(own)}/${application}/keys`, { label })).body;
        await server.db.sql(`update api_keys set ${change} where id = $1`, [id]);
      };
      await build('New', 'name = name');
      await build('Unused', `created_at = now() - interval '90 days'`);
      await build(
        'Used',
        `created_at = now() - interval '200 days', last_used_at = now() - interval '89 days'`,
      );
      await build('Ends late', `expires_at = now() + interval '15 days'`);
      await build('Ends', `expires_at = now() + interval '13 days'`);
      await build('Ended', `expires_at = now() - interval '1 second'`);
      await build('Revoked', `created_at = now() - interval '200 days', revoked_at = now()`);
      const { body } = await admin.get<{ keys: KeyNoticeView[] }>(`/accounts/${own}/key-notices`);
      expect(body.keys).toMatchObject([
        { label: 'Ends', notice: 'expires_soon', applicationId: application, applicationName: 'Shop' },
        { label: 'Unused', notice: 'unused' },
      ]);
      expect(body.keys).toHaveLength(2);
    });

    it.each([{ label: 'x'.repeat(101) }, { key: 'ak_test_mine' }])('is not created with %j', async (body) => {
      const application = await makeApplication();
      expect((await developer.post(`${of(account)}/${application}/keys`, body)).status).toBe(422);
      expect(await keysOf(application)).toEqual([]);
    });
  });
});

describe('the webhook', () => {
  const server = useConsole();
  const HOOK = 'https://hooks.example.com/onecode?key=planted-2f8c';
  let account: string;
  let path: string;
  let admin: TestPerson;
  let viewer: TestPerson;
  beforeAll(async () => {
    account = await buildAccount(server.db.database);
    path = `/accounts/${account}/webhook`;
    admin = await person(server, { accounts: { [account]: 'admin' } });
    viewer = await person(server, { accounts: { [account]: 'viewer' } });
  });
  afterEach(() => server.db.sql('delete from event_webhooks'));

  const set = (url: string) => admin.put<WebhookSecretView>(path, { url });
  const seenBy = async (who: TestPerson) => (await who.get<WebhookView>(path)).body.webhook?.url;

  describe('a webhook', () => {
    it('shows the path and query of its address to admins only', async () => {
      await set(HOOK);
      expect([await seenBy(admin), await seenBy(viewer)]).toEqual([HOOK, 'https://hooks.example.com']);
      const log = await listAuditEntries(server.db.database, { actionPrefix: 'webhook.', limit: 9 });
      expect(log).toMatchObject([
        { action: 'webhook.set', details: { after: { host: 'hooks.example.com' } } },
      ]);
      expect(JSON.stringify(log)).not.toContain('planted');
    });

    it('shows its secret only when the secret is created or replaced', async () => {
      const { secret } = (await set(HOOK)).body;
      expect((await set(`${HOOK}-2`)).body).toEqual({ secret: null });
      const { body } = await admin.post<WebhookSecretView>(`${path}/secret`);
      expect(body.secret).not.toBe(secret);
      const kept = [
        JSON.stringify((await admin.get(path)).body),
        ...(await tableContents(server.db)).values(),
      ];
      for (const one of [secret, body.secret]) expect(kept.join('\n')).not.toContain(String(one));
    });

    it('is offered for low-balance alerts while it is set', async () => {
      const alert = path.replace('/webhook', '/balance-alert');
      const hasWebhook = async () => (await viewer.get<BalanceAlertView>(alert)).body.hasWebhook;
      expect(await hasWebhook()).toBe(false);
      await set(HOOK);
      expect(await hasWebhook()).toBe(true);
    });

    it.each(['http://hooks.example.com/', 'https://ana:secret@hooks.example.com/', 'hooks.example.com'])(
      'is not set to %s',
      async (url) => {
        expect(await set(url)).toMatchObject({ status: 422, body: { errors: { url: 'https' } } });
        expect(await seenBy(admin)).toBeUndefined();
      },
    );
  });
});
