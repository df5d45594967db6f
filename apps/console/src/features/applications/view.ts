import { keyNotice } from '@onecode/domain';
import type { ApiKey, Application } from '@onecode/store/accounts';
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
