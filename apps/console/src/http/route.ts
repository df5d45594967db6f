import type { Request } from 'express';
import type { Static, TSchema } from 'typebox';
import type { Actor, MemberRole, StaffRole } from '@onecode/store';
import type { ConsoleContext } from '../context.js';
import type { Person } from '../auth/identity.js';

/** Who may call a route: anyone; anyone signed in; a member of the account in its path, with at least a role; staff. */
export type Access = 'anyone' | 'signed_in' | MemberRole | StaffRole;

export type Method = 'get' | 'post' | 'put' | 'delete';

/** What a handler gets: the parts of the request that were checked, and who asks. */
export interface Call<B = unknown, Q = unknown> {
  context: ConsoleContext;
  request: Request;
  /** Ids from the path; each has the form of an id. */
  params: Readonly<Record<string, string>>;
  body: B;
  query: Q;
  /** @throws where nobody is signed in, which only a route for anyone can meet */
  person: Person;
  /** The person, for the audit log. */
  actor: Actor;
  /** The account in the path, of which the person is a member. @throws on a route without one */
  accountId: string;
}

/** One route of the console: what it is, who may call it, what it takes, and what it does. */
export interface Route {
  method: Method;
  /** Below `/api`. Every `:name` in it is an id. Routes of members begin with `/accounts/:account`. */
  path: string;
  access: Access;
  /** Whether the person must have shown within the last ten minutes, in this session, that it is them. */
  confirmed?: true;
  body?: TSchema;
  query?: TSchema;
  /** Answers 200 with JSON, or 204 with nothing. */
  handle(call: Call<never, never>): Promise<object | void>;
}

/** Defines a route, with the types of its body and query taken from their schemas. */
export function route<B extends TSchema, Q extends TSchema>(definition: {
  method: Method;
  path: string;
  access: Access;
  confirmed?: true;
  body?: B;
  query?: Q;
  handle(call: Call<Static<B>, Static<Q>>): Promise<object | void>;
}): Route {
  return definition;
}
