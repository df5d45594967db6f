import type { IncomingMessage } from 'node:http';
import { hashApiKey, isApiKey, Problem, trimOuter, type KeyRefusal } from '@onecode/domain';
import type { Caller } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import { createCallerCache } from './callers.js';
import type { KeyUsageTracker } from './keyUsage.js';
import { setCaller } from './requests.js';

/** Checks the credential of a request. @param isCheckedAgain see `FindCaller` */
export type Authenticate = (request: IncomingMessage, isCheckedAgain?: boolean) => Promise<Caller>;

/**
 * Returns the function that checks the Bearer credential and records the use of valid keys. A request with a known key is attributed to the
 * key's application, even if the key is not valid. The statements for creation and verification check the key again.
 *
 * @throws Problem `missing_credentials` without a Bearer credential, `invalid_api_key` unless it is a valid key
 */
export function authenticator(database: Database, keyUsage: KeyUsageTracker): Authenticate {
  const findCaller = createCallerCache(database);
  return async (request, isCheckedAgain) => {
    const credential = bearerCredential(request.headers.authorization);
    if (credential === null) throw new Problem('missing_credentials');
    if (!isApiKey(credential)) throw new Problem('invalid_api_key');
    // The cache contains only hashes of keys, like the database.
    const hash = hashApiKey(credential).toString('latin1');
    const found = await findCaller(hash, isCheckedAgain);
    if (found === undefined) throw new Problem('invalid_api_key');
    setCaller(request, found);
    if (found.state !== 'valid') throw invalidKey(found.state);
    keyUsage.record(hash);
    return found;
  };
}

const REFUSAL_DETAILS = {
  // No detail: the response is the same as for an unknown key.
  revoked: {},
  expired: { detail: 'This key has expired.' },
  suspended: { detail: 'The account of this key is suspended.' },
};

/** Returns the problem for a known key that may not be used. */
export function invalidKey(cause: KeyRefusal): Problem {
  return new Problem('invalid_api_key', REFUSAL_DETAILS[cause]);
}

/** Returns the credential after the scheme `Bearer` (in any case: RFC 9110, 11.1), or null without one. */
function bearerCredential(header = ''): string | null {
  if (!/^bearer[ \t]/i.test(header)) return null;
  return trimOuter(header.slice('bearer'.length), ' \t') || null;
}
