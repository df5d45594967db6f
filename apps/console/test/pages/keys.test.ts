import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import {
  buildAccount,
  describeInBrowser,
  startProcess,
  testRedisUrl,
  until,
  untilReady,
  useBrowser,
  type StartedProcess,
} from '@onecode/testing';
import type { Page } from 'playwright-core';
import { startConsole, type StartedConsole } from '../console.js';
import { person, windowOf } from '../people.js';

const run = promisify(execFile);
/** The API's URL in the samples; the tests replace it by that of a running API. */
const PUBLIC_API = 'https://api.example.test';

let server: StartedConsole;
const browser = useBrowser();
let api: StartedProcess;
let apiUrl: string;
beforeAll(async () => {
  server = await startConsole({ BASE_URL: PUBLIC_API });
  const base64 = (bytes: number) => randomBytes(bytes).toString('base64');
  api = startProcess('apps/api/dist/main.js', {
    DATABASE_URL: server.db.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: server.prefix,
    BASE_URL: PUBLIC_API,
    CODE_PEPPER: base64(32),
    SECRET_KEY: base64(32),
    WHATSAPP_APP_SECRET: base64(16),
    WHATSAPP_VERIFY_TOKEN: base64(16),
    PORT: '0',
    METRICS_PORT: '0',
  });
  const { address } = await untilReady(api);
  apiUrl = `http://127.0.0.1:${(address as { port: number }).port}`;
});
afterAll(async () => {
  await api.stop();
  await server.close();
});

/** Runs a sample as it stands: with the shell in which the variable was set. @returns its standard output */
async function runInShell(variable: string, command: string, ...words: string[]): Promise<string> {
  const { stdout } = await run('/bin/sh', ['-c', `${variable}\n${command}`, ...words]);
  return stdout;
}
const runNode = (variable: string, sample: string): Promise<string> =>
  runInShell(
    variable,
    '"$0" --input-type=module --eval "$1"',
    process.execPath,
    sample.replaceAll(PUBLIC_API, apiUrl),
  );
/** @returns the HTTP status */
const runCurl = (variable: string, sample: string): Promise<string> =>
  runInShell(variable, `${sample.replaceAll(PUBLIC_API, apiUrl)} -o /dev/null -w '%{http_code}'`);

const hasCurl = (): Promise<boolean> =>
  run('curl', ['--version']).then(
    () => true,
    () => false,
  );

const textOf = async (page: Page, region: string): Promise<string> =>
  (await page.getByRole('region', { name: region, exact: true }).textContent()) ?? '';

/** Everything that the scripts of the page store. */
const storedIn = (page: Page): Promise<string> =>
  page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])',
  );

describeInBrowser('from an application to its first send', () => {
  it('a key is shown once, its samples run as they stand, and it stops when it is revoked', async () => {
    const account = await buildAccount(server.db.database);
    const developer = await person(server, { accounts: { [account]: 'developer' } });
    const { page, context } = await windowOf(browser, server, developer);
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));

    await page.goto(`/accounts/${account}/applications`);
    await page.getByRole('button', { name: 'Create application' }).click();
    const creation = page.getByRole('dialog', { name: 'Create application' });
    await creation.getByRole('button', { name: 'Create application' }).click();
    await creation.getByText('Fill in this field.').waitFor();
    await creation.getByLabel('Name').fill('Online shop');
    await creation.getByRole('button', { name: 'Create application' }).click();
    await page.getByRole('heading', { name: 'Online shop', level: 1 }).waitFor();

    await page.getByRole('button', { name: 'Create key' }).click();
    const labelling = page.getByRole('dialog', { name: 'Create key' });
    await labelling.getByLabel('Label (optional)').fill('Server');
    await labelling.getByRole('button', { name: 'Create key' }).click();
    const ready = page.getByRole('dialog', { name: 'Your new key' });
    await ready.getByText('It will not be shown again').waitFor();
    const key = await textOf(page, 'API key');
    expect(key).toMatch(/^ak_test_/);

    // Neither a click outside nor Escape closes the dialog.
    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    expect(await ready.isVisible()).toBe(true);

    const variable = await textOf(page, 'the key as an environment variable');
    expect(variable).toContain(key);
    await ready.getByRole('tab', { name: 'curl' }).waitFor();
    const curl = await textOf(page, 'sample in curl');
    if (await hasCurl()) expect(await runCurl(variable, curl)).toBe('202');
    await ready.getByRole('tab', { name: 'Node' }).click();
    const node = await textOf(page, 'sample in Node');
    expect(await runNode(variable, node)).toMatch(/^[0-9a-f-]{36} \d{4}-/);
    expect(await ready.getByRole('tab').allTextContents()).toEqual([
      'curl',
      'Node',
      'Python',
      'PHP',
      'Go',
      'Java',
    ]);

    await ready.getByRole('button', { name: 'I have stored the key' }).click();
    await ready.waitFor({ state: 'hidden' });
    const secret = key.slice('ak_test_'.length + 4, -4);
    const left = [await page.content(), await storedIn(page), addresses.join('\n')].join('\n');
    expect(left).toContain('Server');
    expect(left).not.toContain(secret);

    await page.getByRole('button', { name: 'Revoke Server' }).click();
    const asking = page.getByRole('dialog', { name: 'Revoke this key?' });
    await asking.getByText(/^Requests with the key Server \(ak_test_…/).waitFor();
    await asking.getByRole('button', { name: 'Revoke' }).click();
    await page
      .getByRole('row', { name: /Server/ })
      .getByText('Revoked', { exact: true })
      .last()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Revoke Server' }).count()).toBe(0);
    // Within a second.
    await until(
      'a key that is refused',
      async () =>
        (await fetch(`${apiUrl}/v1/send/${account}/status`, { headers: { authorization: `Bearer ${key}` } }))
          .status === 401,
    );
    await context.close();
  });

  it('limits start at 60 and 5 when they are switched on, and each is turned off alone', async () => {
    const account = await buildAccount(server.db.database);
    const developer = await person(server, { accounts: { [account]: 'developer' } });
    const list = `/accounts/${account}/applications`;
    const { id } = (await developer.post<{ id: string }>(list, { name: 'Shop', mode: 'live' })).body;
    const { page, context } = await windowOf(browser, server, developer);
    await page.goto(`${list}/${id}`);
    const save = async (): Promise<unknown> => {
      const saved = page.waitForResponse((response) => response.url().endsWith('/limits'));
      await page.getByRole('button', { name: 'Save limits' }).click();
      expect((await saved).status()).toBe(204);
      return (await developer.get<{ limits: unknown }>(`${list}/${id}`)).body.limits;
    };

    await page.getByRole('switch', { name: 'Limit all sends' }).check();
    await page.getByRole('switch', { name: 'Limit sends per recipient' }).check();
    expect(await save()).toEqual({ perMinute: 60, perRecipientHour: 5 });

    const field = page.getByLabel('Sends per minute');
    await field.fill('');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('Enter a whole number from 1 to 1,000,000.').waitFor();
    await field.fill('90');
    await page.getByRole('switch', { name: 'Limit sends per recipient' }).uncheck();
    expect(await save()).toEqual({ perMinute: 90, perRecipientHour: null });
    await context.close();
  });

  it('a viewer has no controls', async () => {
    const account = await buildAccount(server.db.database);
    const roles = { accounts: { [account]: 'developer' } } as const;
    const developer = await person(server, roles);
    const list = `/accounts/${account}/applications`;
    const { id } = (await developer.post<{ id: string }>(list, { name: 'Shop', mode: 'live' })).body;
    await developer.post(`${list}/${id}/keys`, { label: 'Server' });
    const viewer = await person(server, { accounts: { [account]: 'viewer' } });
    const { page, context } = await windowOf(browser, server, viewer);

    await page.goto(list);
    await page.getByRole('link', { name: 'Shop' }).click();
    await page.getByRole('row', { name: /Server/ }).waitFor();

    const buttons = await page.getByRole('main').getByRole('button').allTextContents();
    expect(buttons.filter((text) => text !== '')).toEqual([]);
    for (const limit of await page.getByRole('switch').all()) expect(await limit.isDisabled()).toBe(true);
    await context.close();
  });
});
