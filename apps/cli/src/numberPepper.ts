import {
  deriveNumberPepper,
  parseKeyring,
  recipientKeys,
  type Keyring,
  type PhoneRecipient,
} from '@onecode/domain';
import { ConfigError, readConfig, secret, variable } from '@onecode/runtime/config';
import { environment } from './environment.js';

const optional = secret(variable<Keyring | null>(parseKeyring, null));

/** `NUMBER_PEPPER`, or what the API derives from `CODE_PEPPER` without it; null where neither is set. @throws ConfigError */
export function findNumberPepper(): Keyring | null {
  const { NUMBER_PEPPER, CODE_PEPPER } = readConfig(environment(), {
    NUMBER_PEPPER: optional,
    CODE_PEPPER: optional,
  });
  return NUMBER_PEPPER ?? (CODE_PEPPER && deriveNumberPepper(CODE_PEPPER));
}

/** All keys by which what is kept of a number is found. @throws ConfigError */
export function keysOf({ canonical }: PhoneRecipient): string[] {
  const pepper = findNumberPepper();
  if (pepper === null) throw new ConfigError(['NUMBER_PEPPER is missing']);
  return recipientKeys(pepper, canonical);
}
