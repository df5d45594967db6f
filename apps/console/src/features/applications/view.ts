import type { ApiKey, Application } from '@onecode/store/accounts';
import type { Json } from '../../http/json.js';

export type ApplicationView = Json<ReturnType<typeof applicationView>>;
/** Creation limits of an application; null means off. */
export type LimitsView = ApplicationView['limits'];
export type KeyView = Json<ReturnType<typeof keyView>>;

/** The only answer that ever holds a key. */
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

export const keyView = ({ id, hint, name, createdAt, lastUsedAt, revokedAt, expiresAt }: ApiKey) => ({
  id,
  hint,
  label: name,
  createdAt,
  lastUsedAt,
  revokedAt,
  expiresAt,
});
