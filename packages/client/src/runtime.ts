import { VERSION } from './version.js';

type Globals = Readonly<Record<string, unknown>>;

/** The User-Agent of requests, for example `onecode-client/0.9.0 (node/24.1.0)`. */
export function userAgent(): string {
  const { Deno, Bun, process } = globalThis as unknown as Record<
    string,
    { version?: unknown; versions?: Record<string, string> } | undefined
  >;
  const runtimes: [name: string, version: unknown][] = [
    ['deno', (Deno?.version as { deno?: string } | undefined)?.deno],
    ['bun', Bun?.version],
    ['node', process?.versions?.['node']],
  ];
  const [name, version] = runtimes.find(([, version]) => typeof version === 'string') ?? [];
  return `onecode-client/${VERSION}${name === undefined ? '' : ` (${name}/${String(version)})`}`;
}

/**
 * Whether this code runs where a user could read the key: a page, its workers, or a distributed app. Deno and Bun have some of the globals
 * of a browser, and edge servers have others.
 */
export function isBrowser(): boolean {
  const { Deno, Bun, window, document, WorkerGlobalScope, importScripts, navigator } =
    globalThis as unknown as Globals;
  if (Deno !== undefined || Bun !== undefined) return false;
  if (window !== undefined || document !== undefined) return true;
  if ((navigator as { product?: unknown } | undefined)?.product === 'ReactNative') return true;
  return WorkerGlobalScope !== undefined && typeof importScripts === 'function';
}
