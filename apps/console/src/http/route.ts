import type { Request } from 'express';
import type { Static, TObject, TSchema } from 'typebox';
import type { Actor } from '@onecode/store/operations';
import type { MemberRole, StaffRole } from '@onecode/store/users';
import type { Person } from '../auth/identity.js';
import type { ConsoleContext } from '../context.js';

/** Who may call a route: anyone, anyone signed in, members of the account in its path with at least this role, or staff with this role. */
export type Access = 'anyone' | 'signed_in' | MemberRole | StaffRole;

export type Method = 'get' | 'post' | 'put' | 'delete';

/** The context of a handler: the checked parts of the request, and the user. */
export interface Call<B = unknown, Q = unknown> {
  context: ConsoleContext;
  request: Request;
  /** Ids from the path; each is a valid id. */
  params: Readonly<Record<string, string>>;
  body: B;
  query: Q;
  /** The signed-in user. @throws ConsoleProblem `not_signed_in`, only possible on routes for anyone */
  person: Person;
  /** The user as an actor in the audit log. */
  actor: Actor & { id: string };
  /** The account in the path: one of the user's accounts, or any account for staff. @throws Error on a route without one */
  accountId: string;
}

/** A route of the console: its path, who may call it, its input, and its handler. */
export interface Route {
  method: Method;
  /** Below `/api`. Every `:name` stands for an id. The account of a route for members is `/accounts/:account`. */
  path: string;
  access: Access;
  /** Whether the person must have confirmed their identity in this session within the last ten minutes. */
  confirmed?: true;
  body?: TSchema;
  query?: TObject;
  /** Returns the JSON of a 200, a `CsvDownload`, or nothing for a 204. */
  handle(call: Call<never, never>): Promise<object | void>;
}

/** Defines a route; its handler gets body and query with the types of their schemas. */
export function route<B extends TSchema, Q extends TObject>(
  method: Method,
  path: string,
  access: Access,
  definition: {
    confirmed?: true;
    body?: B;
    query?: Q;
    handle(call: Call<Static<B>, Static<Q>>): Promise<object | void>;
  },
): Route {
  return { method, path, access, ...definition };
}
