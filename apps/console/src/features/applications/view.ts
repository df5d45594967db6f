import type { ApiKey, ApplicationSummary } from '@onecode/store/accounts';
import type { Json } from '../../http/json.js';

export type ApplicationView = Json<ReturnType<typeof applicationView>>;
/** Creation limits of an application; null means off. */
export type LimitsView = ApplicationView['limits'];
export type KeyView = Json<ReturnType<typeof keyView>>;

/** The only response that contains a key. */
export interface NewKeyView {
  id: string;
  key: string;
}

export const applicationView = ({ perMinute, perRecipientHour, ...application }: ApplicationSummary) => ({
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
