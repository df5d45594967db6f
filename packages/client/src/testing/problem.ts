import type { PROBLEMS } from '../contract.js';

export type KnownCode = keyof typeof PROBLEMS;

/** Details of a refusal. */
interface ProblemDetails {
  detail?: string | undefined;
  errors?: Record<string, string>;
  headers?: Record<string, string>;
}

/** A refusal, which the server writes as application/problem+json. */
export class Problem extends Error {
  constructor(
    readonly code: KnownCode,
    readonly details: ProblemDetails = {},
  ) {
    super(code);
  }
}

/** The response is lost: the server closes the connection instead. */
export class LostAnswer extends Error {}
