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
  /** Without a slash at its end. */
  baseUrl: string;
  /** No longer than `deadlineMs`. */
  timeoutMs: number;
  fetch: Fetch;
}

/** The longest time of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** @throws OnecodeError which repeats nothing that it was given */
export function checkOptions(options: OnecodeOptions): CheckedOptions {
  if (isBrowser())
    throw new OnecodeError(
      'Onecode is for servers: in a browser or an app, everybody could read the API key. Call your own backend from there.',
    );
  if (typeof options !== 'object' || options === null)
    throw new OnecodeError('Onecode needs { apiKey, baseUrl }.');
  const { apiKey, timeoutMs = 10_000, maxRetries = 3, deadlineMs = 15_000 } = options;
  const fetch = options.fetch ?? globalFetch;
  if (apiKey === undefined || apiKey === null || apiKey === '') throw new OnecodeError('apiKey is missing.');
  if (typeof apiKey !== 'string' || !/^ak_(?:test|live)_[\w-]+$/.test(apiKey))
    throw new OnecodeError('apiKey is not an API key: ak_test_… or ak_live_…, and nothing around it.');
  for (const [name, ms] of Object.entries({ timeoutMs, deadlineMs }))
    if (!Number.isFinite(ms) || ms <= 0 || ms > TIMER_MS_MAX)
      throw new OnecodeError(`${name} is not a number of milliseconds.`);
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw new OnecodeError('maxRetries is not a whole number from 0 on.');
  if (typeof fetch !== 'function') throw new OnecodeError('fetch is not a function.');
  const baseUrl = checkAddress(options.baseUrl, options.testHosts ?? []);
  return { apiKey, baseUrl, timeoutMs: Math.min(timeoutMs, deadlineMs), maxRetries, deadlineMs, fetch };
}

/** Looked up at each call: tests replace the global one. */
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
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** Null when the text is no URL. The error of `new URL` repeats the text, which may hold a password. */
function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** A host name as `URL` writes it, `127.1` as `127.0.0.1`. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
