/** A refusal of the server, by its stable code; `errors` names the fields at fault. */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly errors: Readonly<Record<string, string>> = {},
  ) {
    super(code);
  }
}

let csrfToken = '';

/** Every change brings the token of the session that was read last. */
export function rememberCsrfToken(token: string): void {
  csrfToken = token;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Calls the console's server. A 204 gives undefined. Where the server first wants the person to show that it is them, they are
 * asked, and it is called again.
 *
 * @param path below `/api`
 * @throws ApiProblem for a refusal; `offline` when there was no answer
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
  if (!response.ok) throw new ApiProblem(response.status, answer?.code ?? 'internal_error', answer?.errors);
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

let asker: ConfirmationPrompt | null = null;
/** What several requests that are refused together wait for. */
let asked: Promise<boolean> | null = null;

/** Who asks the person to show that it is them; null takes the one away who did. */
export function setConfirmationPrompt(next: ConfirmationPrompt | null): void {
  asker = next;
}

/** Whether the person showed that it is them, once they were asked. */
export function requestConfirmation(): Promise<boolean> {
  asked ??= (asker?.() ?? Promise.resolve(false)).finally(() => {
    asked = null;
  });
  return asked;
}
