/** The longest lifetime, in days, of a key that expires. */
export const KEY_DAYS_MAX = 3_650;
/** The numbers of days before a key's expiry at which its account gets a mail. */
export const KEY_MAIL_DAYS = [14, 3] as const;
/** A key that has not been used for this number of days should be revoked. */
export const UNUSED_KEY_DAYS = 90;

/** Why a key is refused: it was revoked, it expired, or its account is suspended. */
export type KeyRefusal = 'revoked' | 'expired' | 'suspended';
export type KeyState = 'valid' | KeyRefusal;

const DAY_MS = 86_400_000;

/** A reason to act on a valid key: it expires soon, or it has not been used for a long time. */
export type KeyNotice = 'expires_soon' | 'unused';

/** Returns the notice about a valid key; null if there is none. */
export function keyNotice(
  { createdAt, lastUsedAt, expiresAt }: { createdAt: Date; lastUsedAt: Date | null; expiresAt: Date | null },
  now: Date,
): KeyNotice | null {
  if (expiresAt !== null && expiresAt.getTime() - now.getTime() <= KEY_MAIL_DAYS[0] * DAY_MS)
    return 'expires_soon';
  return now.getTime() - (lastUsedAt ?? createdAt).getTime() >= UNUSED_KEY_DAYS * DAY_MS ? 'unused' : null;
}
