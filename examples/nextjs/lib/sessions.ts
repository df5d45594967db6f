import 'server-only';
import { randomBytes } from 'node:crypto';

/** A number and the send of its code. They belong together, so they are read and replaced together. */
export interface Pending {
  readonly to: string;
  /** Null once the outcome of a verification is unknown: that code is never verified again. */
  sendId: string | null;
}

/** A creation whose outcome is unknown. With its key, the next try goes on with the same send. */
interface Unfinished {
  readonly to: string;
  readonly idempotencyKey: string | undefined;
}

export interface Session {
  readonly id: string;
  readonly csrf: string;
  readonly signedInAs?: string;
  pending?: Pending | undefined;
  unfinished?: Unfinished | undefined;
  /** Shown once, on the next page. */
  notice?: string | undefined;
  nextSendAt?: number;
}

// Next.js loads this module several times in one process, for the proxy, the page and the routes: the map must be one.
// In production, keep sessions in a store that all processes share.
const store = globalThis as typeof globalThis & { onecodeSessions?: Map<string, Session> };
const sessions = (store.onecodeSessions ??= new Map<string, Session>());

const secret = (): string => randomBytes(32).toString('base64url');

export const findSession = (id: string | undefined): Session | undefined =>
  id === undefined ? undefined : sessions.get(id);

export function createSession(fields: Pick<Session, 'signedInAs'> = {}): Session {
  const session: Session = { id: secret(), csrf: secret(), ...fields };
  sessions.set(session.id, session);
  return session;
}

/** Ends a session and starts another, with an id of its own: one that somebody planted before is worth nothing. */
export function replaceSession({ id }: Session, fields?: Pick<Session, 'signedInAs'>): Session {
  sessions.delete(id);
  return createSession(fields);
}
