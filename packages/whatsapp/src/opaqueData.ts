import type { AttemptName } from '@onecode/domain';

const OPAQUE_DATA = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.([1-9][0-9]{0,4})$/;
const NUMBER_MAX = 32_767;

/** Returns the `biz_opaque_callback_data` of a message, which its receipts contain. */
export const opaqueDataOf = ({ sendId, number }: AttemptName): string => `${sendId}.${number}`;

/** Returns the attempt in a `biz_opaque_callback_data`; null for any other value. */
export function attemptNameOf(value: unknown): AttemptName | null {
  const [, sendId, digits] = (typeof value === 'string' ? OPAQUE_DATA.exec(value) : null) ?? [];
  const number = Number(digits);
  return sendId === undefined || number > NUMBER_MAX ? null : { sendId, number };
}
