import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PROBLEMS, type ProblemCode } from '@onecode/domain';
import { buildCaller, buildSend, describeInBrowser, refuseRequests, useBrowser } from '@onecode/testing';
import { useConsole } from '../console.js';
import { person, windowOf } from '../people.js';

/** No https, and no name of this machine. */
const UNTRUSTED = 'http://console.example.test';

const server = useConsole();
const browser = useBrowser();

describeInBrowser('the page of refused requests', () => {
  it('says why requests were refused, and finds one by its id and by its idempotency key', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live');
    const keyed = (key: string, encoding: BufferEncoding) =>
      createHash('sha256').update(key, encoding).digest();
    const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
    await refuseRequests(database, caller, 'idempotency_key_reused', [
      { requestId: ids[0], status: 409, idempotencyKeyHash: keyed(`ação ${ids[2]}`, 'latin1') },
    ]);
    await refuseRequests(database, caller, 'invalid_recipient', [
      { requestId: ids[1], fields: ['to'], idempotencyKeyHash: keyed(ids[2], 'utf8') },
    ]);
    const who = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    const { page, context } = await windowOf(browser, server, who);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`/accounts/${caller.accountId}/overview`);
    await page.getByRole('link', { name: 'Requests' }).click();

    const group = page.getByRole('region', { name: PROBLEMS.idempotency_key_reused.meaning });
    await group.getByText(PROBLEMS.idempotency_key_reused.remedy).waitFor();
    await group.getByRole('button', { name: 'Show requests' }).click();
    await group.getByText(ids[0]).waitFor();
    expect(page.url()).toContain('code=idempotency_key_reused');
    expect(await page.getByText(ids[1]).count()).toBe(0);

    const search = page.getByLabel('Find a request');
    for (const [text, id] of [
      [ids[1], ids[1]],
      [ids[2], ids[1]],
      [`ação ${ids[2]}`, ids[0]],
    ] as const) {
      await search.fill(` ${text} `);
      await search.press('Enter');
      const table = page.getByRole('table', { name: 'Refused requests, newest first' });
      await table.getByText(id).waitFor();
      expect(await table.getByRole('row').count()).toBe(2);
    }
    // A key may hold anything, a number too.
    expect(asked.filter((url) => decodeURIComponent(url).includes('ação'))).toEqual([]);
    expect(page.url()).not.toContain(ids[2]);
    await search.fill('no such key');
    await search.press('Enter');
    await page.getByText('No refused requests found').waitFor();
    await page.getByRole('button', { name: 'Show all requests' }).click();
    await group.waitFor();
    await context.close();
  });

  it('finds requests on a page that browsers do not trust, where they offer no hashes', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live');
    const requestId = randomUUID();
    const idempotencyKeyHash = createHash('sha256').update('order-7').digest();
    await refuseRequests(database, caller, 'invalid_recipient', [{ requestId, idempotencyKeyHash }]);
    const who = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    const { page, context } = await windowOf(browser, server, who, { baseURL: UNTRUSTED });
    // What stands between: browsers keep no secure cookie of such a page.
    await context.route(`${UNTRUSTED}/**`, async (route) => {
      const url = route.request().url().replace(UNTRUSTED, server.url);
      const headers = { ...route.request().headers(), cookie: who.cookie, origin: server.url };
      await route.fulfill({ response: await route.fetch({ url, headers }) });
    });
    await page.goto(`/accounts/${caller.accountId}/requests`);
    expect(await page.evaluate(`[isSecureContext, 'subtle' in crypto]`)).toEqual([false, false]);
    const search = page.getByLabel('Find a request');
    await search.fill('order-7');
    await search.press('Enter');
    const table = page.getByRole('table', { name: 'Refused requests, newest first' });
    await table.getByText(requestId).waitFor();
    await context.close();
  });

  it('stands beside the timeline, which tells the id of the request that created the send', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live');
    const requestId = randomUUID();
    const id = await buildSend(database, caller, { requestId });
    const who = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    const { page, context } = await windowOf(browser, server, who);
    await page.goto(`/accounts/${caller.accountId}/sends/${id}`);
    await page.getByRole('region', { name: 'Timeline' }).getByText(requestId).waitFor();
    await context.close();
  });
});

describe('its texts', () => {
  const texts = JSON.parse(
    readFileSync(new URL('../../web/src/locales/en/refusedRequests.json', import.meta.url), 'utf8'),
  ) as { problems: Record<string, { meaning: string; cause: string; remedy: string }> };

  it('are those of the problem codes', () => {
    for (const [code, known] of Object.entries(texts.problems)) {
      const { meaning, cause, remedy } = PROBLEMS[code as ProblemCode];
      expect([code, known]).toEqual([code, { meaning, cause, remedy }]);
    }
  });

  it('are there for every code of the contract but those of requests whose key is not known', () => {
    const contract = readFileSync(new URL('../../../api/openapi.yaml', import.meta.url), 'utf8');
    const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) =>
      contract.includes(`code: ${code}`),
    );
    const missing = codes.filter((code) => !(code in texts.problems));
    expect(missing).toEqual(['missing_credentials', 'bad_request', 'request_timeout', 'headers_too_large']);
  });
});
