import { describeInBrowser, until, useBrowser } from '@onecode/testing';
import type { Page } from 'playwright-core';
import { startSimulator } from '../src/index.js';
import { APP_SECRET, bodyOf, closeAll, RECIPIENT, send, start, startBoth } from './sending.js';

const OTHER = '+12015553931';

describeInBrowser('the phone page in a real browser', () => {
  const browser = useBrowser();
  let page: Page;
  let complaints: string[];

  beforeEach(async () => {
    page = await browser.newPage();
    complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
      if (line.type() === 'error') complaints.push(line.text());
    });
  });
  afterEach(async () => {
    await page.close();
    await closeAll();
  });

  /** Opens the page and waits until it is live. */
  async function open(url: string): Promise<void> {
    await page.goto(url);
    await page.locator('#connection[data-state=live]').waitFor();
  }

  /** The one icon beside the time of the only message. */
  const ticks = (name: string) => page.locator('.message .ticks').getByRole('img', { name, exact: true });
  const phone = (to: string) => page.locator(`[data-phone="${to}"]`);

  it('says what to do while nothing has come', async () => {
    const simulator = await start();
    await open(simulator.url);
    expect(await page.locator('#empty').innerText()).toMatch(/No message yet[^]*POST \/v1\/send/);
    expect(await page.locator('#no-phones').isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('shows a message as it arrives, its code, and its ticks as they change', async () => {
    const simulator = await start({ delays: { sentMs: 60_000, deliveredMs: 60_000 } });
    await open(simulator.url);
    const { json } = await send(simulator);
    await page.locator('.message').waitFor();
    expect(await page.locator('.bubble .text').innerText()).toBe(
      '042913 é seu código de verificação. Para sua segurança, não o compartilhe.',
    );
    expect(await page.locator('.bubble .text').getAttribute('lang')).toBe('pt-BR');
    expect(await page.locator('.bubble .code').innerText()).toBe('042913');
    expect(await page.locator('.meta time').innerText()).toMatch(/\d:\d\d/);
    expect(await page.locator('#announcer').innerText()).toContain('0 4 2 9 1 3');
    expect(await page.locator('#empty').isVisible()).toBe(false);

    await ticks('Accepted').waitFor();
    const messageId = json.messages[0].id;
    for (const [status, name] of [
      ['sent', 'Sent'],
      ['delivered', 'Delivered'],
      ['read', 'Read'],
    ] as const) {
      await simulator.postReceipt({ messageId, status });
      await ticks(name).waitFor();
      expect(await page.locator('.message .ticks svg').count()).toBe(1);
    }
    expect(complaints).toEqual([]);
  });

  it('shows a failure with its code, and that there is nothing to read', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { lateFailure: 131026 } });
    await open(simulator.url);
    await send(simulator);
    await ticks('Failed').waitFor();
    expect(await page.locator('.why').innerText()).toBe('failed · 131026');
    expect(await page.getByRole('button', { name: 'Mark as read' }).isVisible()).toBe(false);
  });

  it('lets the person mark a message read, by keyboard too, which posts the webhook', async () => {
    const { simulator, receiver } = await startBoth();
    await send(simulator);
    await open(simulator.url);
    await until('2 statuses', () => receiver.words.length === 2);
    await page.getByRole('button', { name: 'Mark as read' }).focus();
    await page.keyboard.press('Enter');
    await ticks('Read').waitFor();
    await until('3 statuses', () => receiver.words.length === 3);
    expect(receiver.words).toEqual(['sent', 'delivered', 'read']);
    expect(await page.getByRole('button', { name: 'Mark as read' }).isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.id')).toBe('chat');
  });

  it('copies the code', async () => {
    const simulator = await start();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: simulator.url });
    await send(simulator);
    await open(simulator.url);
    await page.getByRole('button', { name: 'Copy code 042913' }).click();
    await page.locator('.copy.copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('042913');
  });

  it('keeps each phone apart, and counts what came to the others', async () => {
    const simulator = await start();
    await open(simulator.url);
    await send(simulator, bodyOf({ code: '111111' }));
    await phone(RECIPIENT).waitFor();
    await send(simulator, bodyOf({ code: '222222', to: OTHER, language: 'en' }));
    await phone(OTHER).locator('.badge').waitFor();
    expect(await page.locator('.bubble .code').allInnerTexts()).toEqual(['111111']);
    expect(await page.locator('[data-phone]').first().getAttribute('data-phone')).toBe(OTHER);
    await phone(OTHER).click();
    await page.locator('.bubble .code', { hasText: '222222' }).waitFor();
    expect(await page.locator('.bubble .text').allInnerTexts()).toEqual([
      '222222 is your verification code. For your security, do not share this code.',
    ]);
    expect(await phone(OTHER).locator('.badge').count()).toBe(0);
    expect(await phone(OTHER).getAttribute('aria-current')).toBe('true');
  });

  it('comes back by itself after the simulator went away, and shows what it missed', async () => {
    const first = await startSimulator({ appSecret: APP_SECRET });
    await open(first.url);
    await send(first, bodyOf({ code: '111111' }));
    await page.locator('.message').waitFor();
    await first.close();
    await page.locator('#connection[data-state=lost]').waitFor();
    expect(await page.locator('#lost').isVisible()).toBe(true);

    const second = await start({ port: Number(new URL(first.url).port) });
    await send(second, bodyOf({ code: '222222' }));
    await page.locator('#connection[data-state=live]').waitFor();
    await page.locator('.bubble .code', { hasText: '222222' }).waitFor();
    expect(await page.locator('.bubble .code').allInnerTexts()).toEqual(['222222']);
    expect(await page.locator('#lost').isVisible()).toBe(false);
    await send(second, bodyOf({ code: '333333' }));
    await page.locator('.bubble .code', { hasText: '333333' }).waitFor();
  });

  it('adds a fault for one phone, shows it, and removes it', async () => {
    const simulator = await start();
    await open(simulator.url);
    await page.getByLabel('Phone', { exact: true }).fill('+55 11 98765-4321');
    await page.getByLabel('What goes wrong').selectOption('Refuse with an error code');
    await page.getByLabel('Error code').fill('131049');
    await page.getByLabel('How often').fill('2');
    await page.getByRole('button', { name: 'Add fault' }).click();
    await page.locator('.rule').waitFor();
    expect(simulator.rules.list()).toMatchObject([
      { recipient: RECIPIENT, fault: { error: 131049 }, times: 2, hits: 0 },
    ]);
    expect((await send(simulator)).json.error.code).toBe(131049);
    await page.locator('.rule', { hasText: '1 more' }).waitFor();
    expect(await page.locator('.rule').innerText()).toMatch(/Refuse with an error code \(131049\)/);
    await page.getByRole('button', { name: /^Remove: / }).click();
    await page.locator('.rule').waitFor({ state: 'detached' });
    expect(simulator.rules.list()).toEqual([]);
  });

  it('adds every fault that it offers for all phones, and says why one is refused', async () => {
    const simulator = await start();
    await open(simulator.url);
    const kinds = await page.locator('#rule-kind option').allInnerTexts();
    for (const [at, kind] of kinds.entries()) {
      await page.getByLabel('What goes wrong').selectOption(kind);
      await page.getByRole('button', { name: 'Add fault' }).click();
      await until(`the fault “${kind}”`, () => simulator.rules.list().length === at + 1);
    }
    await page
      .locator('.rule')
      .nth(kinds.length - 1)
      .waitFor();
    const shown = await page.locator('.rule strong').allInnerTexts();
    expect(shown.map((text) => text.replace(/ \(\d+\)$/, ''))).toEqual(kinds);

    await page.getByLabel('Phone', { exact: true }).fill('you');
    await page.getByRole('button', { name: 'Add fault' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toMatch(/recipient must be a phone number/);
    await page.getByRole('button', { name: 'Remove all' }).click();
    await page.locator('#no-rules').waitFor();
    expect(simulator.rules.list()).toEqual([]);
  });

  it('pauses a template, flags a number, blocks the account, and takes it all back', async () => {
    const { simulator, receiver } = await startBoth();
    await open(simulator.url);
    await page.locator('#no-senders').waitFor();
    await send(simulator);
    const item = (text: string) => page.locator('.thing', { hasText: text });
    const press = (label: string, of: string) =>
      page.getByRole('button', { name: `${label}: ${of}`, exact: true }).click();
    const NUMBER = '+1 555 224-2922';

    await press('Pause', 'verification_code in pt_BR');
    await item('pt_BR').getByText('Paused').waitFor();
    expect((await send(simulator)).json.error.code).toBe(132015);
    await press('Resume', 'verification_code in pt_BR');
    await item('pt_BR').getByText('Approved').waitFor();

    await press('Flag', NUMBER);
    await item(NUMBER).getByText('Flagged for low quality').waitFor();
    await press('Unflag', NUMBER);
    await item(NUMBER).getByText('Connected').waitFor();

    await press('Block', 'account 102290129340398');
    await item('Account').getByText('Blocked').waitFor();
    expect((await send(simulator)).json.error.code).toBe(131031);
    await press('Unblock', 'account 102290129340398');
    await item('Account').getByText('Active').waitFor();
    expect((await send(simulator)).status).toBe(200);
    expect(receiver.changes.map(({ field }) => field)).toEqual([
      'message_template_status_update',
      'message_template_status_update',
      'phone_number_quality_update',
      'phone_number_quality_update',
      'account_update',
      'account_update',
    ]);
    expect(await page.locator('#no-senders').isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('throttles a number for a minute and shows what it refuses, by keyboard too', async () => {
    const simulator = await start();
    await send(simulator);
    await open(simulator.url);
    const item = page.locator('.thing', { hasText: '+1 555 224-2922' });
    await item.getByRole('button', { name: /^Throttle 1 min/ }).focus();
    await page.keyboard.press('Enter');
    await item.getByText(/^Throttled, (60|59|58|57) s left · 0 calls refused$/).waitFor();
    expect((await send(simulator)).json.error.code).toBe(130429);
    await item.getByText(/· 1 call refused$/).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('End throttle');
    await page.keyboard.press('Enter');
    await item.getByText('Connected').waitFor();
    expect((await send(simulator)).status).toBe(200);
    simulator.throttles.add({ scope: 'app', forMs: 60_000 });
    await page.locator('.thing', { hasText: 'The whole app' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it.each([
    ['pt_BR', 'Não solicitei um código', 'Obrigado por avisar'],
    ['en', "I didn't request a code", 'Thanks for telling us'],
  ])('lets the person say that they did not ask for a code (%s)', async (language, ask, thanks) => {
    const { simulator, receiver } = await startBoth();
    await send(simulator, bodyOf({ language }));
    await open(simulator.url);
    await page.getByRole('button', { name: ask }).click();
    await page.getByRole('button', { name: thanks }).waitFor();
    // The button that was pressed keeps the focus, and a second press does nothing.
    expect(await page.evaluate('document.activeElement.textContent')).toBe(thanks);
    await page.keyboard.press('Enter');
    await until('a report', () => receiver.replies.length > 0);
    await send(simulator, bodyOf({ to: OTHER }));
    await phone(OTHER).waitFor();
    expect(receiver.replies).toMatchObject([{ button: { payload: 'DID_NOT_REQUEST_CODE', text: ask } }]);
    expect(simulator.messages()[0]!.reportedAt).not.toBeNull();
    expect(complaints).toEqual([]);
  });

  it('shows how webhooks fare: verified, delivered, failing', async () => {
    const { simulator, receiver } = await startBoth({ verifyToken: 'v' });
    await open(simulator.url);
    await page.locator('#handshake[data-state=passed]').waitFor();
    await send(simulator);
    await page.locator('#webhooks-delivered', { hasText: /^2$/ }).waitFor();
    receiver.answer = () => 503;
    await send(simulator);
    await page.locator('#webhook-trouble', { hasText: 'answered 503' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('never takes what it shows for markup', async () => {
    const simulator = await start();
    await open(simulator.url);
    const code = '<b>1</b><i>2';
    await send(simulator, bodyOf({ code }));
    await page.locator('.message').waitFor();
    expect(await page.locator('.bubble .code').innerText()).toBe(code);
    expect(await page.locator('.message b, .message i').count()).toBe(0);
  });

  it('takes nothing from outside and runs no script but its own', async () => {
    const simulator = await start();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const response = await page.goto(simulator.url);
    await page.locator('#connection[data-state=live]').waitFor();
    expect(asked.every((url) => url.startsWith(`${simulator.url}/`))).toBe(true);
    const policy = response!.headers()['content-security-policy']!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(await page.content()).not.toMatch(/ style=|<style|<script(?![^>]*src=)| on\w+=/);
    expect(complaints).toEqual([]);
  });

  it('fits a small screen and a dark room', async () => {
    const simulator = await start();
    await page.setViewportSize({ width: 360, height: 700 });
    await open(simulator.url);
    await send(simulator);
    await page.locator('.message').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await paper();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await paper()).not.toBe(light);
  });
});
