import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/** Returns an event's signature as defined by Standard Webhooks (symmetric, v1). @param timestamp in seconds */
export function signEvent(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Returns a new webhook secret in the format of Standard Webhooks. */
export const newEventSecret = (): string => SECRET_PREFIX + randomBytes(32).toString('base64');
