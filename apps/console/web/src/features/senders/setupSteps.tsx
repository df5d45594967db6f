import { Anchor, List, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconClock, IconExternalLink, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { SetupView } from '../../../../src/features/senders/view.js';

export type SetupStepView = SetupView['steps'][number];

const STATUSES = {
  done: { color: 'teal.9', Icon: IconCheck },
  already: { color: 'teal.9', Icon: IconCheck },
  waiting: { color: 'blue.9', Icon: IconClock },
  needs_you: { color: 'orange.9', Icon: IconAlertTriangle },
  failed: { color: 'red.9', Icon: IconX },
} as const;

export const isWell = ({ status }: SetupStepView): boolean => status === 'done' || status === 'already';

/** Steps of a setup, each with its state, what was found or has to be done, and the page of Meta for it. */
export function SetupSteps({ steps }: { steps: readonly SetupStepView[] }) {
  const { t } = useTranslation(['senders', 'senderSetup', 'preflight', 'providerErrors']);
  const detailOf = ({ texts, detail }: SetupStepView): string => {
    const translated = texts.map(({ key, facts }) =>
      t(key as 'senderSetup:no_number', { ...facts, defaultValue: '' }),
    );
    return translated.length === 0 || translated.includes('') ? detail : translated.join(' ');
  };
  return (
    <List
      spacing="sm"
      listStyleType="none"
      ps={0}
      // Aligned with the name of the step, not with the middle of its text.
      styles={{ itemWrapper: { alignItems: 'flex-start' } }}
    >
      {steps.map((step) => {
        const { color, Icon } = STATUSES[step.status];
        return (
          <List.Item
            key={step.step}
            icon={
              <ThemeIcon size={22} radius="xl" color={color} aria-label={t(`setup.statuses.${step.status}`)}>
                <Icon size={14} />
              </ThemeIcon>
            }
          >
            <Text fw={550}>{t(`setup.steps.${step.step}` as 'setup.steps.token')}</Text>
            <Text c="dimmed">{detailOf(step)}</Text>
            {step.link !== null && !isWell(step) && (
              <Anchor href={step.link} target="_blank" rel="noreferrer" underline="always">
                {t('setup.atMeta')}
                <IconExternalLink size={14} style={{ marginInlineStart: 4, verticalAlign: -2 }} aria-hidden />
              </Anchor>
            )}
          </List.Item>
        );
      })}
    </List>
  );
}
