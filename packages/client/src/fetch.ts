/**
 * The type of a global if the program has it, from the DOM library or the runtime's types, and otherwise the part that the SDK needs. These
 * types must not force a program to include either.
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

/** The options that the SDK passes to `fetch`. */
export interface FetchInit {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** For a verification, a stream: no layer below the SDK can send it a second time. */
  body?: string | BodyStream;
  duplex?: 'half';
  redirect: 'manual';
  credentials: 'omit';
  cache: 'no-store';
  signal: Signal;
}

/** The part of a response that the SDK needs. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body?: unknown;
  text(): Promise<string>;
}

/** The type of the global `fetch`. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;
