import { createHmac, randomBytes } from 'node:crypto';
import type { Windows } from '@onecode/testing';
import { hashPassword } from 'better-auth/crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newId } from '@onecode/store/client';
import { SESSION_MS_MAX, type MemberRole } from '@onecode/store/users';
import { csrfTokenOf } from '../src/http/csrf.js';
import type { ConsoleEnvironment } from './console.js';

export const PASSWORD = 'correct horse battery';

/** A response of the console's server. */
export interface Answer<T = any> {
  status: number;
  body: T;
  headers: Headers;
}

/** A signed-in user who calls the server as their browser would. */
export interface TestPerson {
  id: string;
  email: string;
  /** The session cookie's header. */
  cookie: string;
  csrfToken: string;
  call<T = any>(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>;
  get<T = any>(path: string): Promise<Answer<T>>;
  post<T = any>(path: string, body?: object): Promise<Answer<T>>;
  put<T = any>(path: string, body?: object): Promise<Answer<T>>;
  delete<T = any>(path: string): Promise<Answer<T>>;
}

/** Calls the server with these headers and the console's own origin; `path` is below `/api`. */
export async function callConsole<T = any>(
  { url }: ConsoleEnvironment,
  method: string,
  path: string,
  { body, headers = {} }: { body?: object | undefined; headers?: Record<string, string> } = {},
): Promise<Answer<T>> {
  const response = await fetch(`${url}/api${path}`, {
    method,
    headers: { origin: url, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? undefined : isJson(response) ? JSON.parse(text) : text) as T,
  };
}

const isJson = ({ headers }: Response): boolean => headers.get('content-type')?.includes('json') ?? false;

/** The cookies that a response sets, as a browser would send them. */
export const cookieOf = ({ headers }: Answer): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');

let addresses = 0;
/** Returns the header of an unused client address, because the attempts of one address are limited. */
export const fromNewAddress = (): Record<string, string> => {
  addresses += 1;
  return { 'x-forwarded-for': `198.51.${addresses >> 8}.${addresses & 255}` };
};

let passwordHash: Promise<string> | undefined;

/** Creates a user who has just signed in, with these roles in accounts or on the staff. */
export async function person(
  server: ConsoleEnvironment,
  roles: {
    accounts?: Readonly<Record<string, MemberRole>>;
    staff?: 'operator' | 'on_call';
    email?: string;
  } = {},
): Promise<TestPerson> {
  const { prisma } = server.db.database;
  const [id, token] = [newId(), randomBytes(24).toString('base64url')];
  const email = roles.email ?? `${randomBytes(6).toString('hex')}@example.com`;
  const credential = { id, accountId: id, providerId: 'credential' };
  await prisma.user.create({
    data: {
      id,
      name: 'Ana Souza',
      email,
      language: 'en',
      staff: roles.staff ?? null,
      credentials: { create: { ...credential, password: await (passwordHash ??= hashPassword(PASSWORD)) } },
      sessions: {
        create: {
          id: newId(),
          token,
          ipAddress: '198.18.0.1',
          userAgent: 'test',
          expiresAt: new Date(Date.now() + SESSION_MS_MAX),
          confirmedAt: new Date(),
        },
      },
      members: {
        create: Object.entries(roles.accounts ?? {}).map(([accountId, role]) => ({ accountId, role })),
      },
    },
  });
  const signature = createHmac('sha256', server.sessionSecret).update(token).digest('base64');
  const cookie = `__Host-onecode.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
  return inSession(server, { id, email }, { cookie, csrfToken: csrfTokenOf(server.sessionSecret, token) });
}

/** The user of the session with this cookie. */
export function inSession(
  server: ConsoleEnvironment,
  { id, email }: Pick<TestPerson, 'id' | 'email'>,
  { cookie, csrfToken }: Pick<TestPerson, 'cookie' | 'csrfToken'>,
): TestPerson {
  const call: TestPerson['call'] = (method, path, body, headers = {}) =>
    callConsole(server, method, path, { body, headers: { cookie, 'x-csrf-token': csrfToken, ...headers } });
  return {
    id,
    email,
    cookie,
    csrfToken,
    call,
    get: (path) => call('GET', path),
    post: (path, body = {}) => call('POST', path, body),
    put: (path, body = {}) => call('PUT', path, body),
    delete: (path) => call('DELETE', path),
  };
}

/** Runs `use` on a page where this person is signed in, with the URLs of all its requests so far. */
export async function inWindow(
  browser: Windows,
  server: ConsoleEnvironment,
  who: TestPerson,
  use: (page: Page, asked: readonly string[]) => Promise<void>,
): Promise<void> {
  const { context, page } = await windowOf(browser, server, who);
  // Shorter than the timeout of the test, so that a failure names the missing element.
  page.setDefaultTimeout(25_000);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  try {
    await use(page, asked);
  } finally {
    await context.close();
  }
}

/** A person's cookies, as a browser holds them. */
export const cookiesOf = ({ cookie }: Pick<TestPerson, 'cookie'>): Cookies =>
  cookie.split('; ').map((pair) => {
    const at = pair.indexOf('=');
    return {
      name: pair.slice(0, at),
      value: pair.slice(at + 1),
      domain: 'localhost',
      path: '/',
      secure: true,
      httpOnly: true,
      sameSite: 'Strict',
    };
  });

type Cookies = Parameters<BrowserContext['addCookies']>[0][number][];

/** Waits until the page has loaded its data and fonts. */
export async function untilIdle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  // A locator works through the debugger; waitForFunction polls by eval, which the content security policy forbids.
  const onTheWay = page.locator('[aria-busy=true], .mantine-Skeleton-root');
  await onTheWay.first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready.then(() => true)');
}

/** A browser window in which this person is signed in. The caller closes its context. */
export async function windowOf(
  browser: Windows,
  server: ConsoleEnvironment,
  { cookie }: TestPerson,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ context: BrowserContext; page: Page }> {
  // Drawing animations would take most of the browser's time.
  const context = await browser.newContext({
    locale: 'en-US',
    baseURL: server.url,
    reducedMotion: 'reduce',
    ...options,
  });
  await context.addCookies(cookiesOf({ cookie }));
  return { context, page: await context.newPage() };
}
