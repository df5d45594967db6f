/** An error response, by its stable code; `errors` maps invalid fields to a code each. */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly errors: Readonly<Record<string, string>> = {},
    /** When the same request may succeed (RFC 3339), if the server sends a time. */
    readonly retryAt: string | null = null,
  ) {
    super(code);
  }
}

let csrfToken = '';

/** Stores the CSRF token that every change must send: the token of the session that was read last. */
export function rememberCsrfToken(token: string): void {
  csrfToken = token;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Calls the console's server; a 204 resolves to undefined. When the server requires a fresh confirmation of identity, the user is
 * asked for it and the call is repeated.
 *
 * @param path below `/api`
 * @throws ApiProblem for an error response; its code is `offline` if there was no response
 */
export async function call<T>(method: Method, path: string, body?: object): Promise<T> {
  try {
    return await callOnce<T>(method, path, body);
  } catch (error) {
    const isUnconfirmed = error instanceof ApiProblem && error.code === 'confirmation_required';
    if (!isUnconfirmed || !(await requestConfirmation())) throw error;
    return callOnce<T>(method, path, body);
  }
}

async function callOnce<T>(method: Method, path: string, body?: object): Promise<T> {
  const response = await fetch(`/api${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(method !== 'GET' && { 'x-csrf-token': csrfToken }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiProblem(0, 'offline');
  });
  const text = await response.text();
  const answer = (text === '' ? undefined : readJson(text)) as T & {
    code?: string;
    errors?: Record<string, string>;
  };
  if (!response.ok) {
    const seconds = Number(response.headers.get('retry-after'));
    const retryAt = seconds > 0 ? new Date(Date.now() + seconds * 1_000).toISOString() : null;
    throw new ApiProblem(response.status, answer?.code ?? 'internal_error', answer?.errors, retryAt);
  }
  return answer;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiProblem(502, 'internal_error');
  }
}

type ConfirmationPrompt = () => Promise<boolean>;

let prompt: ConfirmationPrompt | null = null;
/** Requests refused at the same time share one prompt. */
let pending: Promise<boolean> | null = null;

/** Sets the prompt that asks the user to confirm their identity; null removes it. */
export function setConfirmationPrompt(next: ConfirmationPrompt | null): void {
  prompt = next;
}

/** Asks the user to confirm their identity. Resolves to whether they did. */
function requestConfirmation(): Promise<boolean> {
  pending ??= (prompt?.() ?? Promise.resolve(false)).finally(() => {
    pending = null;
  });
  return pending;
}
