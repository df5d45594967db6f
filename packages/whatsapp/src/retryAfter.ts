import type { AnswerHeaders } from './exchange.js';
import { elements, members, parseJson } from './json.js';

/** An hour; a longer wait is most likely a mistake. */
const WAIT_SECONDS_MAX = 3_600;

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Returns the wait that Meta requests, in whole seconds from 0 to 3600, or null without one. The source is `Retry-After` (seconds or an
 * HTTP date: RFC 9110, 10.2.3) or, if that is missing or malformed, Meta's `X-Business-Use-Case-Usage`, which has minutes.
 *
 * @param now milliseconds since the epoch
 */
export function retryAfterSeconds(headers: AnswerHeaders, now: number): number | null {
  const seconds =
    fromRetryAfter(headers['retry-after'], now) ?? fromUsage(headers['x-business-use-case-usage']);
  return seconds === null ? null : Math.min(Math.max(Math.ceil(seconds), 0), WAIT_SECONDS_MAX);
}

function fromRetryAfter(value: AnswerHeaders[string], now: number): number | null {
  if (typeof value !== 'string') return null;
  if (/^\d+$/.test(value)) return Number(value);
  const milliseconds = HTTP_DATE.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(milliseconds) ? null : (milliseconds - now) / 1000;
}

function fromUsage(value: AnswerHeaders[string]): number | null {
  const minutes = Object.values(members(parseJson(typeof value === 'string' ? value : '')))
    .flatMap(elements)
    .map((usage) => members(usage)['estimated_time_to_regain_access'])
    .filter((wait) => typeof wait === 'number' && wait > 0) as number[];
  return minutes.length === 0 ? null : Math.max(...minutes) * 60;
}
