import type { IncomingMessage } from 'node:http';
import { hashApiKey, isApiKey, Problem } from '@onecode/domain';
import type { Caller, Database } from '@onecode/store';
import { rememberCallers } from './callers.js';
import type { KeyUse } from './keyUse.js';

export type Authenticate = (request: IncomingMessage) => Promise<Caller>;

/**
 * Makes the check of the Bearer credential. Notes the use of keys that are valid.
 *
 * @throws Problem `missing_credentials` without a Bearer credential, `invalid_api_key` with one that names no live key
 */
export function authenticator(database: Database, keyUse: KeyUse): Authenticate {
  const callerOf = rememberCallers(database);
  return async (request) => {
    const credential = bearerCredential(request.headers.authorization);
    if (credential === null) throw new Problem('missing_credentials');
    if (!isApiKey(credential)) throw new Problem('invalid_api_key');
    // Keys are remembered by their hash only, as in the database.
    const hash = hashApiKey(credential).toString('latin1');
    const caller = await callerOf(hash);
    if (caller === undefined) throw new Problem('invalid_api_key');
    keyUse.note(hash);
    return caller;
  };
}

/** What follows `Bearer` (in any case, RFC 9110, 11.1), or null when nothing does. */
function bearerCredential(header: string | undefined): string | null {
  const credential = /^bearer(?:[ \t]+(.*))?$/i.exec(header ?? '')?.[1]?.replace(/[ \t]+$/, '') ?? '';
  return credential === '' ? null : credential;
}
