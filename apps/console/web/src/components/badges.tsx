import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SendView } from '../../../src/features/sends/view.js';

const STATUS_COLORS: Record<SendView['status'], string> = {
  queued: 'gray.5',
  sending: 'blue',
  sent: 'cyan',
  delivered: 'teal',
  read: 'green',
  failed: 'red',
};

const VERIFICATION_COLORS: Record<SendView['verification'], string> = {
  pending: 'gray.5',
  verified: 'green',
  locked: 'red',
  expired: 'orange',
};

/** How far the delivery of a send is. */
export function StatusBadge({ status }: { status: SendView['status'] }) {
  const { t } = useTranslation('sends');
  return <Dot color={STATUS_COLORS[status]} text={t(`status.${status}`)} />;
}

/** What became of a send's code. */
export function VerificationBadge({ verification }: { verification: SendView['verification'] }) {
  const { t } = useTranslation('sends');
  return <Dot color={VERIFICATION_COLORS[verification]} text={t(`verification.${verification}`)} />;
}

/** The colour only helps: the word says it all. */
function Dot({ color, text }: { color: string; text: string }) {
  return (
    <Badge variant="dot" color={color}>
      {text}
    </Badge>
  );
}
