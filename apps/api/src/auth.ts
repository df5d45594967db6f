import type { IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { hashApiKey, isApiKey, Problem } from '@onecode/domain';
import type { Caller, Database } from '@onecode/store';
import { rememberCallers } from './callers.js';
import type { KeyUsageTracker } from './keyUsage.js';

/** Who sent a request, as far as is known by now. */
interface Authenticated {
  caller: Caller;
  /**
   * Judges the key again, if what was known may no longer hold: a body may take seconds to come, and so may the database's answers.
   *
   * @throws Problem `invalid_api_key`
   */
  readonly again: () => Promise<void>;
}

export type Authenticate = (request: IncomingMessage) => Promise<Authenticated>;

/**
 * Makes the check of the Bearer credential. Notes the use of keys that are valid.
 *
 * @throws Problem `missing_credentials` without a Bearer credential, `invalid_api_key` with one that names no live key
 */
export function authenticator(database: Database, keyUsage: KeyUsageTracker): Authenticate {
  const callers = rememberCallers(database);
  const judge = async (hash: string): Promise<Caller> => {
    const judged = await callers.judge(hash);
    if (judged === 'suspended') throw invalidKey('suspended');
    if (judged === undefined) throw invalidKey('revoked');
    return judged;
  };
  return async (request) => {
    const credential = bearerCredential(request.headers.authorization);
    if (credential === null) throw new Problem('missing_credentials');
    if (!isApiKey(credential)) throw new Problem('invalid_api_key');
    // Keys are remembered by their hash only, as in the database.
    const hash = hashApiKey(credential).toString('latin1');
    const caller = await judge(hash);
    keyUsage.note(hash);
    return {
      caller,
      again: async () => {
        if (callers.stillHolds(hash, caller)) return;
        if (!isDeepStrictEqual(await judge(hash), caller)) throw new Problem('invalid_api_key');
      },
    };
  };
}

/** The refusal of a key that names nobody, or whose account is suspended. */
export function invalidKey(cause: 'revoked' | 'suspended'): Problem {
  return new Problem(
    'invalid_api_key',
    cause === 'suspended' ? { detail: 'The account of this key is suspended.' } : {},
  );
}

/** What follows `Bearer` (in any case, RFC 9110, 11.1), or null when nothing does. */
function bearerCredential(header: string | undefined): string | null {
  const credential = /^bearer(?:[ \t]+(.*))?$/i.exec(header ?? '')?.[1]?.replace(/[ \t]+$/, '') ?? '';
  return credential === '' ? null : credential;
}
