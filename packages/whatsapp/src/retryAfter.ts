import type { AnswerHeaders } from './exchange.js';
import { elements, members, parseJson } from './json.js';

/**
 * Returns the wait in seconds that Meta requests, or null without one. The source is `Retry-After` or, if that is missing, Meta's
 * `X-Business-Use-Case-Usage`, which has minutes.
 */
export function retryAfterSeconds(headers: AnswerHeaders): number | null {
  const { 'retry-after': seconds, 'x-business-use-case-usage': usage } = headers;
  if (typeof seconds === 'string' && /^\d+$/.test(seconds)) return Number(seconds);
  const minutes = Object.values(members(parseJson(typeof usage === 'string' ? usage : '')))
    .flatMap(elements)
    .map((limit) => members(limit)['estimated_time_to_regain_access'])
    .filter((wait) => typeof wait === 'number' && wait > 0) as number[];
  return minutes.length === 0 ? null : Math.max(...minutes) * 60;
}
