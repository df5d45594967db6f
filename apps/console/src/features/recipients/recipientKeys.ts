import { parseRecipient, pastedNumber, recipientKeys } from '@onecode/domain';
import type { ConsoleContext } from '../../context.js';
import { ConsoleProblem } from '../../http/problem.js';

/** All keys of a number as somebody typed or pasted it. @throws ConsoleProblem `invalid_input` where it is none */
export function readRecipientKeys({ config }: ConsoleContext, typed: string): string[] {
  const number = parseRecipient(pastedNumber(typed));
  if (number.kind !== 'phone') throw new ConsoleProblem('invalid_input', { errors: { recipient: 'phone' } });
  if (config.NUMBER_PEPPER === null) throw new Error('NUMBER_PEPPER is missing');
  return recipientKeys(config.NUMBER_PEPPER, number.canonical);
}
