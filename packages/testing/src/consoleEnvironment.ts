import { randomBytes } from 'node:crypto';
import { createUser, type NewUser } from '@onecode/store/users';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from './browser.js';
import { TEST_ACTOR } from './builders.js';
import { ProcessStack, type ProcessStackOptions } from './processStack.js';
import { startProcess, untilReady, type StartedProcess } from './startedProcess.js';
import { closedPort } from './tcpServer.js';

const PASSWORD = 'correct horse battery';

/** The input of the sign-in page. */
export interface Credentials {
  email: string;
  password: string;
}

/** The built processes as in production, with the console and a browser. */
export class ConsoleEnvironment {
  readonly #contexts: BrowserContext[] = [];

  private constructor(
    readonly stack: ProcessStack,
    readonly url: string,
    readonly console: StartedProcess,
    readonly browser: Browser,
  ) {}

  static async open(options: ProcessStackOptions = {}): Promise<ConsoleEnvironment> {
    const stack = await ProcessStack.start(options);
    const port = await closedPort();
    const url = `http://localhost:${port}`;
    const console = startProcess('apps/console/dist/main.js', {
      ...stack.variables,
      ...options.env,
      CODE_PEPPER: stack.secrets.pepper,
      SECRET_KEY: stack.secrets.secretKey,
      SESSION_SECRET: randomBytes(32).toString('base64'),
      PORT: String(port),
      METRICS_PORT: '0',
      BASE_URL: String(stack.apis[0]),
      CONSOLE_URL: url,
    });
    await untilReady(console);
    return new ConsoleEnvironment(stack, url, console, await launchBrowser());
  }

  /** Opens a window that shares no cookies or storage with other windows. */
  async window(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    // Without reduced motion, animations would take most of the browser's time.
    const context = await this.browser.newContext({
      locale: 'en-US',
      baseURL: this.url,
      reducedMotion: 'reduce',
      ...options,
    });
    this.#contexts.push(context);
    return context.newPage();
  }

  /** Creates a user with this role: on the staff, or in an account. */
  async createUser(role: Pick<NewUser, 'staff'> | NonNullable<NewUser['membership']>): Promise<Credentials> {
    const credentials = { email: `${randomBytes(6).toString('hex')}@example.com`, password: PASSWORD };
    await createUser(this.stack.db.database, TEST_ACTOR, {
      ...credentials,
      name: 'Ana',
      language: 'en',
      ...('staff' in role ? { ...role, membership: null } : { staff: null, membership: role }),
    });
    return credentials;
  }

  /** Opens a window and signs this user in on the sign-in page. */
  async windowOf({ email, password }: Credentials): Promise<Page> {
    const page = await this.window();
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel(/^Password/).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main navigation' }).waitFor({ state: 'attached' });
    return page;
  }

  /** Closes everything. @throws if a process ends with an exit code other than 0 */
  async close(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
    await this.browser.close();
    const { code } = await this.console.stop();
    await this.stack.stop();
    if (code !== 0) throw new Error(`the console ended with ${code}`);
  }
}
