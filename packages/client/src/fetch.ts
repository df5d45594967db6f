/**
 * A global's type where the program has it, from the DOM library or from the runtime's types, and what the SDK needs of it otherwise:
 * these types must not make a program take in either.
 */
type Global<Name extends string, Otherwise> =
  typeof globalThis extends Record<Name, { prototype: infer Instance }> ? Instance : Otherwise;

/** `AbortSignal`. */
export type Signal = Global<
  'AbortSignal',
  {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
    removeEventListener(type: 'abort', listener: () => void): void;
  }
>;

/** A body that can be read once. `ReadableStream`. */
export type BodyStream = Global<'ReadableStream', { getReader(): unknown }>;

/** What the SDK passes to `fetch`. */
export interface FetchInit {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** Of a verification, a stream: nothing below the SDK can send it a second time. */
  body?: string | BodyStream;
  duplex?: 'half';
  redirect: 'manual';
  credentials: 'omit';
  cache: 'no-store';
  signal: Signal;
}

/** What the SDK needs of an answer. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body?: unknown;
  text(): Promise<string>;
}

/** What the global `fetch` is. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;
