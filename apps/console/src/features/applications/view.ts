import type { Mode } from '@onecode/domain';
import type { ApiKey, ApplicationSummary } from '@onecode/store';

export interface ApplicationView {
  id: string;
  name: string;
  mode: Mode;
  limits: LimitsView;
  /** Keys that are not revoked. */
  keysInUse: number;
  createdAt: string;
}

/** Creation limits of an application; null is off. */
export interface LimitsView {
  perMinute: number | null;
  perRecipientHour: number | null;
}

export interface KeyView {
  id: string;
  /** What may be shown of the key. */
  hint: string;
  label: string | null;
  createdAt: string;
  /** To the minute, more or less. */
  lastUsedAt: string | null;
  revokedAt: string | null;
}

/** The only answer that ever holds a key. */
export interface NewKeyView {
  id: string;
  key: string;
}

export function applicationView(application: ApplicationSummary): ApplicationView {
  const { id, name, mode, perMinute, perRecipientHour, keysInUse, createdAt } = application;
  return {
    id,
    name,
    mode,
    limits: { perMinute, perRecipientHour },
    keysInUse,
    createdAt: createdAt.toISOString(),
  };
}

export function keyView({ id, hint, name, createdAt, lastUsedAt, revokedAt }: ApiKey): KeyView {
  return {
    id,
    hint,
    label: name,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}
