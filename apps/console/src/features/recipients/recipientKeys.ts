import { parseRecipient, recipientKeys, type PhoneRecipient } from '@onecode/domain';
import type { ConsoleContext } from '../../context.js';
import { ConsoleProblem } from '../../http/problem.js';
import { pastedNumber } from '../../http/pastedNumber.js';

/** Parses a number in any spelling. @throws ConsoleProblem `invalid_input` if the text is not a number */
export function parseNumber(typed: string): PhoneRecipient {
  const number = parseRecipient(pastedNumber(typed));
  if (number.kind !== 'phone') throw new ConsoleProblem('invalid_input', { errors: { recipient: 'phone' } });
  return number;
}

/** Returns all keys of a number in any spelling. @throws ConsoleProblem, as `parseNumber` */
export function readRecipientKeys({ config }: ConsoleContext, typed: string): string[] {
  const { canonical } = parseNumber(typed);
  if (config.NUMBER_PEPPER === null) throw new Error('NUMBER_PEPPER is missing');
  return recipientKeys(config.NUMBER_PEPPER, canonical);
}
