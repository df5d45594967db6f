import { listAuditEntries } from '@onecode/store/operations';
import { buildAccount, tableContents } from '@onecode/testing';
import type { BalanceAlertView } from '../../src/features/ledger/view.js';
import type { WebhookSecretView, WebhookView } from '../../src/features/webhook/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

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
    expect(log).toMatchObject([{ action: 'webhook.set', details: { after: { host: 'hooks.example.com' } } }]);
    expect(JSON.stringify(log)).not.toContain('planted');
  });

  it('shows its secret only when the secret is created or replaced', async () => {
    const { secret } = (await set(HOOK)).body;
    expect((await set(`${HOOK}-2`)).body).toEqual({ secret: null });
    const { body } = await admin.post<WebhookSecretView>(`${path}/secret`);
    expect(body.secret).not.toBe(secret);
    const kept = [JSON.stringify((await admin.get(path)).body), ...(await tableContents(server.db)).values()];
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
