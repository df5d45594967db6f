import { randomBytes } from 'node:crypto';

/**
 * The `wa_id` that Meta answers for a recipient: digits without `+`. Brazilian mobile numbers lose their ninth digit and
 * Mexican numbers get a `1`, so an answer's `wa_id` is no key to match a recipient by.
 */
export function waIdOf(to: string): string {
  const digits = to.replace(/^\+/, '');
  const brazilianMobile = /^(55[1-9]{2})9(\d{8})$/.exec(digits);
  if (brazilianMobile) return `${brazilianMobile[1]}${brazilianMobile[2]}`;
  const mexican = /^52([2-9]\d{9})$/.exec(digits);
  if (mexican) return `521${mexican[1]}`;
  return digits;
}

const BEFORE_NUMBER = Buffer.from([0x1c, 0x18]);
const AFTER_NUMBER = Buffer.from([0x15, 0x02, 0x00, 0x11, 0x18, 0x12]);
const END = Buffer.from([0x00]);

/** A new message id in the form that Meta gives: base64 around the recipient's number and 18 random hex digits. */
export function newMessageId(waId: string): string {
  const number = Buffer.from(waId, 'latin1');
  const random = Buffer.from(randomBytes(9).toString('hex').toUpperCase(), 'latin1');
  const bytes = Buffer.concat([
    BEFORE_NUMBER,
    Buffer.from([number.length]),
    number,
    AFTER_NUMBER,
    random,
    END,
  ]);
  return `wamid.${bytes.toString('base64')}`;
}
