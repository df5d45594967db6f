import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SenderView } from '../../../src/features/senders/view.js';

const COLORS = { active: 'teal', resting: 'orange', paused: 'red' } as const;

/** Whether a sender sends. */
export function SenderBadge({ state }: { state: SenderView['state'] }) {
  const { t } = useTranslation('senders');
  return <Badge color={COLORS[state]}>{t(`states.${state}`)}</Badge>;
}
