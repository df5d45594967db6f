import {
  deriveNumberPepper,
  parseKeyring,
  recipientKeys,
  type Keyring,
  type PhoneRecipient,
} from '@onecode/domain';
import { readConfig, secret, variable } from '@onecode/runtime/config';
import { DATABASE_URL } from './database.js';
import { environment } from './environment.js';

export const optionalKeyring = secret(variable<Keyring | null>(parseKeyring, null));

/**
 * Returns `NUMBER_PEPPER` or, without it, the pepper that the API derives from `CODE_PEPPER`; null if neither is set. @throws ConfigError
 */
export const findNumberPepper = (): Keyring | null => readNumberPepper(false);

/** Returns all keys under which a number's data may be stored. @throws ConfigError */
export function deriveRecipientKeys({ canonical }: PhoneRecipient): string[] {
  return recipientKeys(readNumberPepper(true) as Keyring, canonical);
}

/** Also reads DATABASE_URL, so that one error reports its faults too. */
function readNumberPepper(isRequired: boolean): Keyring | null {
  const specs = { DATABASE_URL, NUMBER_PEPPER: optionalKeyring, CODE_PEPPER: optionalKeyring };
  const { NUMBER_PEPPER, CODE_PEPPER } = readConfig(environment(), specs, (config) =>
    isRequired && config.NUMBER_PEPPER === null && config.CODE_PEPPER === null
      ? ['NUMBER_PEPPER is missing']
      : [],
  );
  return NUMBER_PEPPER ?? (CODE_PEPPER && deriveNumberPepper(CODE_PEPPER));
}
