import { Alert, Text } from '@mantine/core';
import { IconChecks, IconClock, IconHandFinger, IconTool, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { NextStep } from '../../../../src/features/sends/nextStep.js';
import type { SendDetailsView } from '../../../../src/features/sends/view.js';
import { Explanation } from './sendTimeline.js';

const STYLES = {
  done: { color: 'green', icon: IconChecks },
  wait: { color: 'blue', icon: IconClock },
  operators: { color: 'yellow', icon: IconTool },
  integrator: { color: 'brand', icon: IconHandFinger },
  failed: { color: 'red', icon: IconX },
} as const;

/** The kind of each step: done, waiting, failed, or the party that has to act. */
const KIND: Record<NextStep, keyof typeof STYLES> = {
  verified: 'done',
  queued: 'wait',
  sending: 'wait',
  retrying: 'wait',
  unclear: 'wait',
  sent: 'wait',
  delivered: 'wait',
  guessing: 'wait',
  giving_up: 'wait',
  not_taken_up: 'operators',
  no_sender: 'operators',
  held: 'operators',
  refused: 'failed',
  try_code: 'integrator',
  unconfirmed: 'integrator',
  locked: 'integrator',
  expired_unconfirmed: 'integrator',
  expired_unused: 'integrator',
  rejected: 'failed',
  attempts_exhausted: 'failed',
  expired_before_delivery: 'failed',
};

/** What to do next about a send, updated while the page is open. */
export function SendNextStep({ send }: { send: SendDetailsView }) {
  const { t, i18n } = useTranslation('sends');
  const { step, explanation } = send.next;
  const { color, icon: Icon } = STYLES[KIND[step]];
  const expires = new Date(send.expiresAt).toLocaleTimeString(i18n.language, { timeStyle: 'short' });
  return (
    <Alert
      variant="light"
      color={color}
      icon={<Icon size={20} />}
      title={
        <Text fw={650} c="var(--mantine-color-text)">
          {t(`next.${step}.title`)}
        </Text>
      }
      role="status"
      aria-label={t('next.title')}
    >
      {explanation !== null && <Explanation explanation={explanation} withRemedy={step === 'rejected'} />}
      <Text>{t(`next.${step}.text`, { expires, count: send.guessesLeft })}</Text>
    </Alert>
  );
}
