import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';

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

const secret = (): string => randomBytes(32).toString('base64url');

/** The sessions, in the memory of this process. In production, keep them in a store that all processes share. */
@Injectable()
export class SessionStore {
  readonly #sessions = new Map<string, Session>();

  find(id: string | undefined): Session | undefined {
    return id === undefined ? undefined : this.#sessions.get(id);
  }

  create(fields: Pick<Session, 'signedInAs'> = {}): Session {
    const session: Session = { id: secret(), csrf: secret(), ...fields };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Ends a session and starts another, with an id of its own: one that somebody planted before is worth nothing. */
  replace({ id }: Session, fields?: Pick<Session, 'signedInAs'>): Session {
    this.#sessions.delete(id);
    return this.create(fields);
  }
}
