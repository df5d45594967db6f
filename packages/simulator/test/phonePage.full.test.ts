import { describeInBrowser, until, useBrowser } from '@onecode/testing';
import type { Page } from 'playwright-core';
import { startSimulator } from '../src/index.js';
import { APP_SECRET, bodyOf, closeAll, codeOf, OTHER, RECIPIENT, send, start, startBoth } from './sending.js';

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

  /** Opens the page and waits for its live stream. */
  async function open(url: string): Promise<void> {
    await page.goto(url);
    await page.locator('#connection[data-state=live]').waitFor();
  }

  /** Returns the icon next to the time of the only message. */
  const ticks = (name: string) => page.locator('.message .ticks').getByRole('img', { name, exact: true });
  const phone = (to: string) => page.locator(`[data-phone="${to}"]`);
  const phones = () =>
    page.locator('[data-phone]').evaluateAll((all) => all.map((one) => one.getAttribute('data-phone')));
  const codes = () => page.locator('.bubble .code').allInnerTexts();
  const focused = () => page.evaluate('document.activeElement.textContent');

  it('shows instructions before the first message, and loads only resources of its own origin', async () => {
    const simulator = await start();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const response = await page.goto(simulator.url);
    await page.locator('#connection[data-state=live]').waitFor();
    expect(await page.locator('#empty').innerText()).toMatch(/No message yet[^]*POST \/v1\/send/);
    expect(asked.every((url) => url.startsWith(`${simulator.url}/`))).toBe(true);
    const policy = response!.headers()['content-security-policy']!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(await page.content()).not.toMatch(/ style=|<style|<script(?![^>]*src=)| on\w+=/);
    expect(complaints).toEqual([]);
  });

  it('shows a new message with its code, and each change of its ticks', async () => {
    const simulator = await start({ delays: { sentMs: 60_000, deliveredMs: 60_000 } });
    await open(simulator.url);
    const { json } = await send(simulator);
    await ticks('Accepted').waitFor();
    const text = page.locator('.bubble .text');
    expect(await text.innerText()).toBe(
      '042913 é seu código de verificação. Para sua segurança, não o compartilhe.',
    );
    expect(await text.getAttribute('lang')).toBe('pt-BR');
    expect(await page.locator('.bubble').innerText()).toMatch(
      /Este código expira em 10 minutos\.[^]*Copiar código/,
    );
    expect(await page.locator('#announcer').innerText()).toContain('0 4 2 9 1 3');
    const messageId = json.messages[0].id;
    for (const [status, name] of [
      ['sent', 'Sent'],
      ['delivered', 'Delivered'],
      ['read', 'Read'],
    ] as const) {
      await simulator.postReceipt({ messageId, status });
      await ticks(name).waitFor();
    }
    simulator.reset();
    simulator.rules.add({ fault: { lateFailure: 131026, lateFailureMs: 0 } });
    await send(simulator);
    await ticks('Failed').waitFor();
    expect(await page.locator('.why').innerText()).toBe('failed · 131026');
    expect(await page.getByRole('button', { name: 'Mark as read' }).isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('marks a message as read by keyboard, and posts the webhook', async () => {
    const { simulator, receiver } = await startBoth();
    await send(simulator);
    await open(simulator.url);
    await until('2 statuses', () => receiver.words.length === 2);
    await page.getByRole('button', { name: 'Mark as read' }).focus();
    await page.keyboard.press('Enter');
    await ticks('Read').waitFor();
    await until('3 statuses', () => receiver.words.length === 3);
    expect(receiver.words).toEqual(['sent', 'delivered', 'read']);
    expect(await page.evaluate('document.activeElement.id')).toBe('chat');
  });

  it.each([
    ['pt_BR', 'Não solicitei um código', 'Obrigado por avisar'],
    ['en', "I didn't request a code", 'Thanks for telling us'],
  ])('reports a code as not requested (%s)', async (language, ask, thanks) => {
    const { simulator, receiver } = await startBoth();
    await send(simulator, bodyOf({ language }));
    await open(simulator.url);
    await page.getByRole('button', { name: ask }).click();
    await page.getByRole('button', { name: thanks }).waitFor();
    // The pressed button keeps the focus, and a second press does nothing.
    expect(await focused()).toBe(thanks);
    await page.keyboard.press('Enter');
    await until('a report', () => receiver.replies.length > 0);
    await send(simulator, bodyOf({ to: OTHER }));
    await phone(OTHER).waitFor();
    expect(receiver.replies).toMatchObject([{ button: { payload: 'DID_NOT_REQUEST_CODE', text: ask } }]);
    expect(complaints).toEqual([]);
  });

  it('copies the code, and shows markup as text', async () => {
    const simulator = await start();
    let copied = '';
    await page.exposeFunction('keepCopied', (text: string) => (copied = text));
    // All tests share the browser's clipboard.
    await page.addInitScript('navigator.clipboard.writeText = keepCopied');
    const code = '<b>1</b><i>2';
    await send(simulator, bodyOf({ code }));
    await open(simulator.url);
    await page.getByRole('button', { name: `Copiar código ${code}` }).click();
    await page.locator('.copy.copied').waitFor();
    expect(copied).toBe(code);
    expect(await codes()).toEqual([code]);
    expect(await page.locator('.message b, .message i').count()).toBe(0);
  });

  it('shows one phone at a time, and counts new messages of the other phones', async () => {
    const simulator = await start();
    await open(simulator.url);
    await send(simulator, bodyOf({ code: '111111' }));
    await phone(RECIPIENT).waitFor();
    await send(simulator, bodyOf({ code: '222222', to: OTHER }));
    await phone(OTHER).locator('.badge').waitFor();
    expect(await codes()).toEqual(['111111']);
    expect(await phones()).toEqual([OTHER, RECIPIENT]);
    await phone(OTHER).click();
    await page.locator('.bubble .code', { hasText: '222222' }).waitFor();
    expect(await codes()).toEqual(['222222']);
    expect(await phone(OTHER).locator('.badge').count()).toBe(0);
    expect(await phone(OTHER).getAttribute('aria-current')).toBe('true');
  });

  it('finds a phone by the digits of its number', async () => {
    const simulator = await start();
    for (let nth = 10; nth < 80; nth += 1) await send(simulator, bodyOf({ to: `+55119000000${nth}` }));
    await send(simulator, bodyOf({ to: OTHER, code: '222222' }));
    for (let nth = 10; nth < 80; nth += 1) await send(simulator, bodyOf({ to: `+55119000000${nth}` }));
    await open(simulator.url);
    await page.getByText('and 11 more: search by number').waitFor();
    expect(await phones()).not.toContain(OTHER);
    await page.getByLabel('Find a number').fill('(201) 555');
    await phone(OTHER).waitFor();
    expect(await phones()).toEqual([OTHER]);
    await page.keyboard.press('Enter');
    await page.locator('.bubble .code', { hasText: '222222' }).waitFor();
    await page.getByLabel('Find a number').fill('999999');
    await page.getByText('No phone has these digits.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('keeps a pinned phone selected and on top, also after a reload', async () => {
    const simulator = await start();
    await send(simulator, bodyOf({ code: '111111' }));
    await open(simulator.url);
    await page.getByRole('button', { name: 'Pin' }).click();
    await page.getByRole('button', { name: 'Pinned', pressed: true }).waitFor();
    await send(simulator, bodyOf({ to: OTHER }));
    await phone(OTHER).waitFor();
    expect(await phones()).toEqual([RECIPIENT, OTHER]);
    await open(simulator.url);
    expect([await phones(), await codes()]).toEqual([[RECIPIENT, OTHER], ['111111']]);
    await page.locator('#pin').click();
    await page.getByRole('button', { name: 'Pin', pressed: false }).waitFor();
    expect(await phones()).toEqual([OTHER, RECIPIENT]);
  });

  it('reconnects after the simulator was unavailable, and shows missed messages', async () => {
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
    expect(await codes()).toEqual(['222222']);
    expect(await page.locator('#lost').isVisible()).toBe(false);
  });

  it('adds, shows and removes every fault of its form, and explains a refused fault', async () => {
    const simulator = await start();
    await open(simulator.url);
    const kinds = await page.locator('#rule-kind option').allInnerTexts();
    for (const [at, kind] of kinds.entries()) {
      await page.getByLabel('Kind of fault').selectOption(kind);
      await page.getByRole('button', { name: 'Add fault' }).click();
      await until(`the fault “${kind}”`, () => simulator.rules.list().length === at + 1);
    }
    await page
      .locator('.rule')
      .nth(kinds.length - 1)
      .waitFor();
    const shown = await page.locator('.rule strong').allInnerTexts();
    expect(shown.map((text) => text.replace(/ \(\d+\)$/, ''))).toEqual(kinds);
    await page.getByRole('button', { name: 'Remove all' }).click();
    await page.locator('#no-rules').waitFor();

    await page.getByLabel('Phone', { exact: true }).fill('you');
    await page.getByRole('button', { name: 'Add fault' }).click();
    await page.getByText(/recipient must be a phone number/).waitFor();
    await page.getByLabel('Phone', { exact: true }).fill('+55 11 98765-4321');
    await page.getByLabel('Kind of fault').selectOption('Refuse with an error code');
    await page.getByLabel('Error code').fill('131049');
    await page.getByLabel('Times').fill('2');
    await page.getByRole('button', { name: 'Add fault' }).click();
    await page.locator('.rule', { hasText: '+55 11 98765-4321 · 2 more' }).waitFor();
    expect([await codeOf(simulator, { to: OTHER }), await codeOf(simulator)]).toEqual([null, 131049]);
    await page.locator('.rule', { hasText: '1 more' }).waitFor();
    await page.getByRole('button', { name: /^Remove: / }).click();
    await page.locator('#no-rules').waitFor();
    expect(simulator.rules.list()).toEqual([]);
  });

  it('pauses a template, lowers a number’s quality, throttles it and blocks the account, and reverts each change', async () => {
    const { simulator, receiver } = await startBoth({ verifyToken: 'v' });
    await open(simulator.url);
    await page.locator('#handshake[data-state=passed]').waitFor();
    await page.locator('#no-senders').waitFor();
    await send(simulator);
    const NUMBER = '+1 555 224-2922';
    const steps: [label: string, of: string, item: string, state: string | RegExp, code: number | null][] = [
      ['Pause', 'verification_code in pt_BR', 'pt_BR', 'Paused', 132015],
      ['Resume', 'verification_code in pt_BR', 'pt_BR', 'Approved', null],
      ['Lower quality', NUMBER, NUMBER, 'Low quality', null],
      ['Restore quality', NUMBER, NUMBER, 'Connected', null],
      ['Throttle 1 min', NUMBER, NUMBER, /^Throttled, \d\d s left · 0 calls refused$/, 130429],
      ['End throttle', NUMBER, NUMBER, 'Connected', null],
      ['Block', 'account 102290129340398', 'Account', 'Blocked', 131031],
      ['Unblock', 'account 102290129340398', 'Account', 'Active', null],
    ];
    for (const [label, of, item, state, code] of steps) {
      await page.getByRole('button', { name: `${label}: ${of}`, exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.locator('.thing', { hasText: item }).getByText(state).waitFor();
      expect(await codeOf(simulator)).toBe(code);
      // The opposite action has replaced this one and taken its focus.
      expect(await focused()).not.toBe(label);
    }
    expect(receiver.changes).toHaveLength(4);
    receiver.answer = () => 503;
    await send(simulator);
    await page.locator('#webhook-trouble', { hasText: 'answered 503' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('fits a small screen, and has a dark theme', async () => {
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
