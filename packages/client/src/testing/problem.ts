import type { PROBLEMS } from '../contract.js';

export type KnownCode = keyof typeof PROBLEMS;

/** What a refusal may have besides its code. */
interface ProblemDetails {
  detail?: string | undefined;
  errors?: Record<string, string>;
  headers?: Record<string, string>;
}

/** A refusal. The server writes it as application/problem+json. */
export class Problem extends Error {
  constructor(
    readonly code: KnownCode,
    readonly details: ProblemDetails = {},
  ) {
    super(code);
  }
}

/** The answer is lost: the server closes the connection in its place. */
export class LostAnswer extends Error {}
