import {
  deriveNumberPepper,
  numberPepperCheck,
  parseKeyring,
  recipientKeys,
  type Keyring,
  type PhoneRecipient,
} from '@onecode/domain';
import { ConfigError, readConfig, secret, variable } from '@onecode/runtime/config';
import { findLatestRecipient } from '@onecode/store/operations';
import { DATABASE_URL, withDatabase } from './database.js';
import { environment } from './environment.js';
import { UserError } from './errors.js';

export const optionalKeyring = secret(variable<Keyring | null>(parseKeyring, null));

/**
 * Returns `NUMBER_PEPPER` or, without it, the pepper that the API derives from `CODE_PEPPER`; null if neither is set. @throws ConfigError
 */
export const findNumberPepper = (): Keyring | null => readNumberPepper(false);

/**
 * Returns all keys under which a number's data may be stored. @throws ConfigError, or UserError if the pepper is not the API's: the data
 * would not be found
 */
export async function deriveRecipientKeys({ canonical }: PhoneRecipient): Promise<string[]> {
  const pepper = readNumberPepper(true) as Keyring;
  const { ok, detail } = numberPepperCheck(await withDatabase(findLatestRecipient), pepper);
  if (ok === false) throw new UserError(detail);
  return recipientKeys(pepper, canonical);
}

/** Also reads DATABASE_URL, so that one error reports its faults too. */
function readNumberPepper(isRequired: boolean): Keyring | null {
  const specs = { DATABASE_URL, NUMBER_PEPPER: optionalKeyring, CODE_PEPPER: optionalKeyring };
  const { NUMBER_PEPPER, CODE_PEPPER } = readConfig(environment(), specs);
  if (isRequired && NUMBER_PEPPER === null && CODE_PEPPER === null)
    throw new ConfigError(['NUMBER_PEPPER is missing']);
  return NUMBER_PEPPER ?? (CODE_PEPPER && deriveNumberPepper(CODE_PEPPER));
}
