import type { ApiAnswer, ApiFault } from './apiCall.js';
import type { ApiProblemView, SendStateView, TryoutVerifyView } from './view.js';

type Members = Readonly<Record<string, unknown>>;

/** The members of an answer's JSON with this status; null for any other answer. */
function membersOf(answer: ApiAnswer | ApiFault, isWanted: (status: number) => boolean): Members | null {
  if (typeof answer === 'string' || !isWanted(answer.status)) return null;
  try {
    const value: unknown = JSON.parse(answer.body);
    return typeof value === 'object' && value !== null ? (value as Members) : null;
  } catch {
    return null;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** The send in an answer of the API, or null when there is none. */
export function sendIn(answer: ApiAnswer | ApiFault): { id: string; state: SendStateView } | null {
  const { id, status, verification, expires_at: expiresAt } = membersOf(answer, isSuccess) ?? {};
  if (![id, status, verification, expiresAt].every(isText)) return null;
  return { id: id as string, state: { status, verification, expiresAt } as SendStateView };
}

/** What an answer says of a verification, or null when it says nothing: then it is not known whether the code was judged. */
export function resultIn(answer: ApiAnswer | ApiFault): TryoutVerifyView['result'] {
  const { valid, verification, attempts_left: attemptsLeft } = membersOf(answer, isSuccess) ?? {};
  if (typeof valid !== 'boolean' || !isText(verification) || typeof attemptsLeft !== 'number') return null;
  return { valid, verification, attemptsLeft } as TryoutVerifyView['result'];
}

/** The problem in an answer of the API, or null. @param docsUrl where the API's documentation is, for a type that is no address */
export function problemIn(answer: ApiAnswer | ApiFault, docsUrl: string): ApiProblemView | null {
  const { code, detail, type, errors } = membersOf(answer, (status) => status >= 400) ?? {};
  if (!isText(code) || typeof answer === 'string') return null;
  const retryAfter = answer.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1] ?? '';
  return {
    code,
    detail: isText(detail) ? detail : null,
    fields: (['to', 'code'] as const).filter((field) => Object.hasOwn(Object(errors) as object, field)),
    retryAfterSeconds: /^\d+$/.test(retryAfter) ? Number(retryAfter) : null,
    docs: isText(type) && /^https?:\/\//.test(type) ? type : `${docsUrl}/errors#${encodeURIComponent(code)}`,
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
