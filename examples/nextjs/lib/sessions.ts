import 'server-only';
import { randomBytes } from 'node:crypto';

/** A number and its latest sends. They belong together, so read and replace them together. */
export interface Pending {
  readonly to: string;
  /** The newest first, at most two. Empty after a verification without a response, because its code must not be verified again. */
  sendIds: readonly string[];
}

/** A create request without a response. For a minute, the next try reuses its key and gets the same send. */
interface Unfinished {
  readonly to: string;
  readonly idempotencyKey: string | undefined;
  readonly askedAt: number;
}

export interface Session {
  readonly id: string;
  readonly signedInAs?: string;
  pending?: Pending | undefined;
  unfinished?: Unfinished | undefined;
  /** Shown once, on the next page. */
  notice?: string | undefined;
  readonly endsAt: number;
}

const SESSION_MS = 3_600_000;
const SESSIONS_MAX = Number(process.env['SESSIONS_MAX'] ?? '10000');

// Next.js loads this module several times in one process, for the page and the routes. They must share the maps.
// In production, keep sessions in a store that all processes share.
const store = globalThis as typeof globalThis & {
  onecodeSessions?: Map<string, Session>;
  onecodeNextSends?: Map<string, number>;
  onecodeVerifications?: Map<string, Promise<Session | undefined>>;
};
/** The oldest first. */
const sessions = (store.onecodeSessions ??= new Map<string, Session>());
/** The time when the next code can be sent, by session and by number. */
export const nextSends = (store.onecodeNextSends ??= new Map<string, number>());
/** Verifications in progress, by session and code. */
export const verifications = (store.onecodeVerifications ??= new Map<string, Promise<Session | undefined>>());

const secret = (): string => randomBytes(32).toString('base64url');

export function findSession(id: string | undefined): Session | undefined {
  const found = id === undefined ? undefined : sessions.get(id);
  return found && found.endsAt > Date.now() ? found : undefined;
}

export function createSession(fields: Pick<Session, 'signedInAs'> = {}): Session {
  const now = Date.now();
  for (const [id, { endsAt }] of sessions) {
    if (endsAt > now && sessions.size < SESSIONS_MAX) break;
    sessions.delete(id);
  }
  const session: Session = { id: secret(), endsAt: now + SESSION_MS, ...fields };
  sessions.set(session.id, session);
  return session;
}

export function endSession(id: string | undefined): void {
  if (id !== undefined) sessions.delete(id);
}
