import { OnecodeError } from './errors.js';
import type { Fetch } from './fetch.js';
import { isBrowser } from './runtime.js';
import type { OnecodeOptions } from './types.js';

export interface CallLimits {
  maxRetries: number;
  deadlineMs: number;
}

export interface CheckedOptions extends CallLimits {
  apiKey: string;
  /** The address without a trailing slash. */
  baseUrl: string;
  /** At most `deadlineMs`. */
  timeoutMs: number;
  fetch: Fetch;
}

/** The maximum delay of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Returns the checked options. @throws OnecodeError that never contains the given values */
export function checkOptions(options: OnecodeOptions): CheckedOptions {
  if (isBrowser())
    throw new OnecodeError(
      'Onecode is for servers: in a browser or an app, any user could read the API key. Call your own backend from there.',
    );
  if (typeof options !== 'object' || options === null)
    throw new OnecodeError('Onecode needs { apiKey, baseUrl }.');
  const { apiKey, timeoutMs = 10_000, maxRetries = 3, deadlineMs = 15_000 } = options;
  const fetch = options.fetch ?? globalFetch;
  if (apiKey === undefined || apiKey === null || apiKey === '') throw new OnecodeError('apiKey is missing.');
  if (typeof apiKey !== 'string' || !/^ak_(?:test|live)_[\w-]+$/.test(apiKey))
    throw new OnecodeError('apiKey is not an API key: ak_test_… or ak_live_…, without other text.');
  for (const [name, ms] of Object.entries({ timeoutMs, deadlineMs }))
    if (!Number.isFinite(ms) || ms <= 0 || ms > TIMER_MS_MAX)
      throw new OnecodeError(`${name} is not a number of milliseconds.`);
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw new OnecodeError('maxRetries is not a whole number of 0 or more.');
  if (typeof fetch !== 'function') throw new OnecodeError('fetch is not a function.');
  const baseUrl = checkAddress(options.baseUrl, options.testHosts ?? []);
  return { apiKey, baseUrl, timeoutMs: Math.min(timeoutMs, deadlineMs), maxRetries, deadlineMs, fetch };
}

/** Looks up the global at each call, because tests replace it. */
const globalFetch: Fetch = (url, init) => globalThis.fetch(url, init);

function checkAddress(address: OnecodeOptions['baseUrl'], testHosts: readonly string[]): string {
  if (address === undefined || address === null || address === '')
    throw new OnecodeError('baseUrl is missing.');
  const text = typeof address === 'object' ? address.href : address;
  if (typeof text !== 'string') throw new OnecodeError('baseUrl is not an address.');
  const url = parseUrl(text);
  if (url === null) throw new OnecodeError('baseUrl is not an address.');
  if (url.username !== '' || url.password !== '')
    throw new OnecodeError('baseUrl has credentials. The key goes into apiKey.');
  if (/[?#]/.test(text)) throw new OnecodeError('baseUrl has a query or a fragment.');
  if (!Array.isArray(testHosts) || !testHosts.every((host) => typeof host === 'string'))
    throw new OnecodeError('testHosts is not a list of host names.');
  const mayBeHttp = isLoopback(url.hostname) || testHosts.includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBeHttp))
    throw new OnecodeError(
      'baseUrl is not https: the key would be readable on its way. For a test double, name its host in testHosts.',
    );
  if (/\/v1\/*$/.test(url.pathname))
    throw new OnecodeError('baseUrl ends in /v1, which the client adds itself.');
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** Returns null if the text is not a URL. The error of `new URL` contains the text, which may include a password. */
function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Returns a host name as `URL` writes it, for example `127.1` as `127.0.0.1`. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
