import type { IdentityCheck, Mode } from '@onecode/domain';
import type { ApiKey, ApplicationSummary } from '@onecode/store';

export interface ApplicationView {
  id: string;
  name: string;
  mode: Mode;
  limits: LimitsView;
  identityCheck: IdentityCheck;
  /** How many keys that people made are not revoked. */
  keysInUse: number;
  createdAt: string;
}

/** Creation limits of an application; null means off. */
export interface LimitsView {
  perMinute: number | null;
  perRecipientHour: number | null;
}

export interface KeyView {
  id: string;
  /** The part of the key that may be shown. */
  hint: string;
  label: string | null;
  createdAt: string;
  /** Accurate to about a minute. */
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** Of a key for a visit to the page Try it; null for a key that somebody made. */
  expiresAt: string | null;
}

/** The only answer that ever holds a key. */
export interface NewKeyView {
  id: string;
  key: string;
}

export function applicationView(application: ApplicationSummary): ApplicationView {
  const { id, name, mode, perMinute, perRecipientHour, identityCheck, keysInUse, createdAt } = application;
  return {
    id,
    name,
    mode,
    limits: { perMinute, perRecipientHour },
    identityCheck,
    keysInUse,
    createdAt: createdAt.toISOString(),
  };
}

export function keyView({ id, hint, name, createdAt, lastUsedAt, revokedAt, expiresAt }: ApiKey): KeyView {
  return {
    id,
    hint,
    label: name,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}
