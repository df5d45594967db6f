import type { ApiKey, Application } from '@onecode/store/accounts';
import { KEY_MAIL_DAYS } from '@onecode/store/mails';
import type { Json } from '../../http/json.js';

export type ApplicationView = Json<ReturnType<typeof applicationView>>;
/** Creation limits of an application; null means off. */
export type LimitsView = ApplicationView['limits'];
export type KeyView = Json<ReturnType<typeof keyView>>;
export type KeyNoticeView = Json<ReturnType<typeof keyNoticeViews>>[number];

/** The only response that contains a key. */
export interface NewKeyView {
  id: string;
  key: string;
}

export const applicationView = ({
  accountId: _accountId,
  perMinute,
  perRecipientHour,
  ...application
}: Application) => ({
  ...application,
  limits: { perMinute, perRecipientHour },
});

/** A key that has not been used for this number of days should be revoked. */
const UNUSED_KEY_DAYS = 90;
const DAY_MS = 86_400_000;

/** Returns the reason to act on an active key: it expires soon, or it has not been used for a long time; null if there is none. */
export function keyNotice(
  { createdAt, lastUsedAt, expiresAt }: Pick<ApiKey, 'createdAt' | 'lastUsedAt' | 'expiresAt'>,
  now: Date,
): 'expires_soon' | 'unused' | null {
  if (expiresAt !== null && expiresAt.getTime() - now.getTime() <= KEY_MAIL_DAYS[0] * DAY_MS)
    return 'expires_soon';
  return now.getTime() - (lastUsedAt ?? createdAt).getTime() >= UNUSED_KEY_DAYS * DAY_MS ? 'unused' : null;
}

type KeyState = 'active' | 'expired' | 'revoked';

export const keyView = (key: ApiKey) => {
  const { id, hint, name, createdAt, lastUsedAt, revokedAt, expiresAt } = key;
  const now = new Date();
  const hasExpired = expiresAt !== null && expiresAt <= now;
  const state: KeyState = revokedAt !== null ? 'revoked' : hasExpired ? 'expired' : 'active';
  return {
    id,
    hint,
    label: name,
    createdAt,
    lastUsedAt,
    revokedAt,
    expiresAt,
    state,
    notice: state === 'active' ? keyNotice(key, now) : null,
  };
};

/** Active keys of an account that expire soon or are not used, the earliest end first. */
export const keyNoticeViews = (keys: readonly ApiKey[]) =>
  keys
    .map((key) => ({
      ...keyView(key),
      applicationId: key.applicationId,
      applicationName: key.applicationName,
    }))
    .filter(({ notice }) => notice !== null)
    .toSorted((one, other) => Number(one.expiresAt ?? Infinity) - Number(other.expiresAt ?? Infinity));
