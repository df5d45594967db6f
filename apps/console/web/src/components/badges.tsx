import { Badge, Group } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { SenderView } from '../../../src/features/senders/view.js';
import type { SendView } from '../../../src/features/sends/view.js';
import type { StaffAccountView } from '../../../src/features/accounts/view.js';
import { useMayOperate } from '../app/session.js';

export function ModeBadge({ mode }: { mode: 'test' | 'live' }) {
  const { t } = useTranslation();
  return <Badge color={mode === 'live' ? 'brand' : 'gray'}>{t(`mode.${mode}`)}</Badge>;
}

const STATUS_COLORS: Record<Exclude<SendView['status'], 'failed'>, string> = {
  queued: 'gray.5',
  sending: 'blue',
  sent: 'cyan',
  delivered: 'teal',
  read: 'green',
};

const VERIFICATION_COLORS: Record<SendView['verification'], string> = {
  pending: 'gray.5',
  verified: 'green',
  locked: 'red',
  expired: 'orange',
};

export function StatusBadge({ status }: { status: SendView['status'] }) {
  const { t } = useTranslation(['common', 'sends']);
  const text = t(`sends:status.${status}`);
  if (status === 'failed') return <Badge color="red">{text}</Badge>;
  return <DotBadge color={STATUS_COLORS[status]} text={text} />;
}

export function VerificationBadge({ verification }: { verification: SendView['verification'] }) {
  const { t } = useTranslation(['common', 'sends']);
  return (
    <DotBadge color={VERIFICATION_COLORS[verification]} text={t(`sends:verification.${verification}`)} />
  );
}

/** The text carries the meaning; the colour only supports it. */
function DotBadge({ color, text }: { color: string; text: string }) {
  return (
    <Badge variant="dot" color={color}>
      {text}
    </Badge>
  );
}

const COLORS = { active: 'teal', cooling_down: 'orange', paused: 'red' } as const;

export function SenderBadge({
  state,
  isBlockedByProvider,
  isNew = false,
}: {
  state: SenderView['state'];
  isBlockedByProvider: boolean;
  isNew?: boolean;
}) {
  const { t } = useTranslation(['common', 'senders']);
  const word = isNew ? 'new' : state === 'paused' && isBlockedByProvider ? 'blocked' : state;
  return <Badge color={isNew ? 'blue' : COLORS[state]}>{t(`senders:states.${word}`)}</Badge>;
}

/** The state of an account: active, suspended, on hold, or both of the latter. */
export function AccountBadge({ account }: { account: Pick<StaffAccountView, 'suspendedAt' | 'held'> }) {
  const { t } = useTranslation(['common', 'accounts']);
  return (
    <Group gap={4}>
      {account.suspendedAt !== null && <Badge color="red">{t('accounts:list.state.suspended')}</Badge>}
      {account.held && <Badge color="orange">{t('accounts:list.state.held')}</Badge>}
      {account.suspendedAt === null && !account.held && (
        <Badge color="teal">{t('accounts:list.state.active')}</Badge>
      )}
    </Group>
  );
}

/** Explains to on-call staff why a page has no controls; renders nothing for operators. */
export function ReadOnlyBadge() {
  const { t } = useTranslation();
  if (useMayOperate()) return null;
  return (
    <Badge color="gray" size="lg" leftSection={<IconEye size={14} />}>
      {t('readOnly')}
    </Badge>
  );
}
