import 'server-only';
import { Onecode } from '@onecode/client';

let client: Onecode | undefined;

/** One client for the whole server. It is created when the server starts, not when this module is loaded, because a build has no key. */
export function onecode(): Onecode {
  const { ONECODE_API_KEY = '', ONECODE_URL = '', ONECODE_TIMEOUT_MS = '4000' } = process.env;
  return (client ??= new Onecode({
    apiKey: ONECODE_API_KEY,
    baseUrl: ONECODE_URL,
    // A user is waiting: at most two tries, no long wait between them, then an error message.
    timeoutMs: Number(ONECODE_TIMEOUT_MS),
    maxRetries: 1,
    deadlineMs: 2 * Number(ONECODE_TIMEOUT_MS) + 1000,
  }));
}
