import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../harness/browser.js';
import { closedPort } from '../harness/closedPort.js';
import { testRedisUrl } from '../harness/redisContents.js';
import { Stack, type StackOptions } from '../harness/stack.js';
import { startProcess, untilReady, type StartedProcess } from '../harness/startedProcess.js';

/** Somebody who signs in by the console's own page. */
export interface SignIn {
  email: string;
  password: string;
}

/** All of Onecode as it runs in earnest, with its console and a browser in front of it. */
export class House {
  readonly #contexts: BrowserContext[] = [];

  private constructor(
    readonly stack: Stack,
    readonly url: string,
    readonly console: StartedProcess,
    readonly browser: Browser,
  ) {}

  static async open(options: StackOptions = {}): Promise<House> {
    const stack = await Stack.start(options);
    const port = await closedPort();
    const url = `http://localhost:${port}`;
    const console = startProcess('apps/console/dist/main.js', {
      DATABASE_URL: stack.db.url,
      REDIS_URL: testRedisUrl(),
      QUEUE_PREFIX: stack.prefix,
      SECRET_KEY: stack.secrets.secretKey,
      SESSION_SECRET: randomBytes(32).toString('base64'),
      PORT: String(port),
      METRICS_PORT: '0',
      BASE_URL: String(stack.apis[0]),
      CONSOLE_URL: url,
    });
    await untilReady(console);
    return new House(stack, url, console, await launchBrowser());
  }

  /** A new window, as of another person at another computer. */
  async window(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await this.browser.newContext({ locale: 'en-US', baseURL: this.url, ...options });
    this.#contexts.push(context);
    return context.newPage();
  }

  /** Makes somebody by the command line: of the staff, or of an account (`--account ID --role ROLE`). */
  async person(role: string): Promise<SignIn> {
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    const made = await this.stack.onecode(`user create --email ${email} --name Ana --language en ${role}`);
    return { email, password: String(made['password']) };
  }

  /** A window in which this person has signed in by the page. */
  async windowOf({ email, password }: SignIn): Promise<Page> {
    const page = await this.window();
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel(/^Password/).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main navigation' }).waitFor({ state: 'attached' });
    return page;
  }

  /** Closes everything. @throws when a process does not end as it should */
  async close(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
    await this.browser.close();
    const { code } = await this.console.stop();
    await this.stack.stop();
    if (code !== 0) throw new Error(`the console ended with ${code}`);
  }
}
