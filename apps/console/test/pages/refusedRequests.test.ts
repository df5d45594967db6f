import { createHash, randomUUID } from 'node:crypto';
import { buildCaller, describeInBrowser, refuseRequests, useBrowser } from '@onecode/testing';
import { useConsole } from '../console.js';
import { person, windowOf } from '../people.js';

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
      {
        requestId: ids[0],
        status: 409,
        detail: 'Reused.',
        idempotencyKeyHash: keyed(`ação ${ids[2]}`, 'latin1'),
      },
    ]);
    await refuseRequests(database, caller, 'invalid_recipient', [
      { requestId: ids[1], fields: ['to'], idempotencyKeyHash: keyed(ids[2], 'utf8'), count: 30 },
    ]);
    const who = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    const { page, context } = await windowOf(browser, server, who);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`/accounts/${caller.accountId}/overview`);
    await page.getByRole('link', { name: 'Requests' }).click();

    const table = page.getByRole('table', { name: 'Refused requests, newest first' });
    await table.getByText('29 more like it').waitFor();
    const reasons = page.getByRole('group', { name: 'What the API said' });
    await reasons.getByRole('button', { name: /30 requests/ }).waitFor();
    const reason = reasons.getByRole('button', { name: /Reused/ });
    await reason.click();
    await table.getByText(ids[1]).waitFor({ state: 'hidden' });
    await table.getByText(ids[0]).waitFor();
    expect(page.url()).toContain('code=idempotency_key_reused');
    expect(await reason.getAttribute('aria-pressed')).toBe('true');
    const docs = await table.getByRole('link', { name: '409 idempotency_key_reused' }).getAttribute('href');
    expect(docs).toMatch(/\/docs\/errors#idempotency_key_reused$/);
    await reason.click();
    await table.getByText(ids[1]).waitFor();

    const search = page.getByLabel('Find a request');
    for (const [text, id] of [
      [ids[1], ids[1]],
      [ids[2], ids[1]],
      [`ação ${ids[2]}`, ids[0]],
    ] as const) {
      await search.fill(` ${text} `);
      await search.press('Enter');
      await table.getByText(id === ids[0] ? ids[1] : ids[0]).waitFor({ state: 'hidden' });
      expect(await table.getByRole('row').count()).toBe(2);
      await table.getByText(id).waitFor();
    }
    // A key may hold anything, a number too.
    expect(asked.filter((url) => decodeURIComponent(url).includes('ação'))).toEqual([]);
    expect(page.url()).not.toContain(ids[2]);
    await search.fill('no such key');
    await search.press('Enter');
    await page.getByText('No refused requests found').waitFor();
    await page.getByRole('button', { name: 'Show all requests' }).click();
    await reasons.waitFor();
    await context.close();
  });
});
