import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { describeInBrowser, useBrowser } from '@onecode/testing';
import { startOnecode, type OnecodeServer } from '@onecode/client/testing';
import { guideBlocks, makeGuideFolder } from './guideBlocks.js';

const PHONE = '+447700900321';
const LATENCY_MS = 300;
const START = `import { app } from './server.js';
const server = app.listen(0, '127.0.0.1', () => console.log('http://localhost:' + server.address().port));`;
/** Asks who is signed in, again and again, so that a request is always under way. */
const POLL = `void (async () => {
  for (window.polled = []; ; ) window.polled.push((await fetch('/me')).status);
})()`;
const ENGLISH = ['could not be delivered', 'cannot be sent', 'Delivered'] as const;
const PORTUGUESE = ['Não foi possível entregar', 'Não é possível enviar códigos', 'Entregue'] as const;
const ME = `fetch('/me').then((answer) => answer.status === 200 ? answer.json() : answer.status)`;

const scriptOf = (code: string): string =>
  transformSync(code, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  }).code;

describeInBrowser.each(['', 'pt-br/'])('the sign-in of the guide, %s', (language) => {
  const browser = useBrowser();
  let service: OnecodeServer;
  let folder: string;
  let program: ChildProcess;
  let url: string;
  beforeAll(async () => {
    service = await startOnecode();
    folder = makeGuideFolder();
    const page = `${language}sign-in`;
    const [rules = '', server = ''] = guideBlocks(page, 'ts');
    const [html = ''] = guideBlocks(page, 'html');
    mkdirSync(join(folder, 'public'));
    writeFileSync(join(folder, 'public/index.html'), html);
    for (const [name, code] of Object.entries({ signIn: rules, server, main: START }))
      writeFileSync(join(folder, `${name}.js`), scriptOf(code));
    program = spawn(process.execPath, ['main.js'], {
      cwd: folder,
      env: { ...process.env, ONECODE_URL: service.baseUrl, ONECODE_API_KEY: service.keys.live },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(program.stdout!, 'data')) as [Buffer];
    url = line.toString().trim();
  });
  afterAll(async () => {
    program?.kill();
    rmSync(folder, { recursive: true });
    await service.close();
  });

  it('sends one code and keeps the person signed in, double-clicked, far away, with a poll under way', async () => {
    const page = await browser.newPage();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: LATENCY_MS,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    await page.goto(url);
    await page.evaluate(POLL);
    await page.locator('[name=phone]').fill('+44 (0)7700 900321');
    await page.locator('#phone button').dblclick();
    await page.locator('[name=code]').fill('111 111');
    await page.locator('#code button').click();
    await page.locator('#notice', { hasText: '4' }).waitFor();
    await page.locator('[name=code]').fill(service.lastCode(PHONE));
    await page.locator('#code button').dblclick();
    await page.locator('#notice', { hasText: PHONE }).waitFor();
    await page.waitForFunction('window.polled.at(-1) === 200');
    expect(await page.evaluate('window.polled.join().replace(/^(401,)*/, "").includes("401")')).toBe(false);
    expect(await page.evaluate(ME)).toEqual({ phone: PHONE });
    expect(service.sends).toHaveLength(1);
    await page.close();
  });

  it('goes on where it was after a reload, and says so when a code cannot arrive', async () => {
    const page = await browser.newPage();
    const [refused, reached] = ['+447700900322', '+447700900323'];
    service.script(refused, { status: 'failed', reason: 'rejected_by_provider' });
    // Both tries of the first press.
    service.script(reached, { answer: 'lost', afterWork: true, times: 2 });
    await page.goto(url);
    const ask = async (number: string): Promise<void> => {
      await page.locator('[name=phone]').fill(number);
      await page.locator('#phone button').click();
    };
    const [cannotArrive, notSent, arrived] = language === '' ? ENGLISH : PORTUGUESE;
    await ask(refused);
    await page.locator('#notice', { hasText: cannotArrive }).waitFor();
    await ask(reached);
    await page.locator('#notice', { hasText: notSent }).waitFor();
    await ask(reached);
    await page.locator('#notice', { hasText: arrived }).waitFor();
    expect(service.sends.filter(({ to }) => to === reached)).toHaveLength(1);
    await page.reload();
    await page.locator('[name=code]').fill(service.lastCode(reached));
    await page.locator('#code button').click();
    await page.locator('#notice', { hasText: reached }).waitFor();
    await page.reload();
    await page.locator('#notice', { hasText: reached }).waitFor();
    expect(await page.locator('form:visible').count()).toBe(0);
    await page.close();
  });

  it('begins no session for whoever only asks, and answers what is no JSON without a stack', async () => {
    const asked = await fetch(`${url}/me`, { headers: { cookie: 'session=unknown' } });
    expect([asked.status, asked.headers.get('set-cookie')]).toEqual([401, null]);
    const typed = await fetch(`${url}/sign-in/code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"code":',
    });
    expect([typed.status, await typed.json()]).toEqual([400, { kind: 'not-now' }]);
  });
});
