import { Badge, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SenderErrorView } from '../../../../src/features/senders/view.js';
import { useNumbers } from '../../hooks/formats.js';
import { Time } from '../../components/times.js';

/** A sender's last errors: what each means, and what to do. */
export function SenderErrors({ errors }: { errors: readonly SenderErrorView[] }) {
  const { t, i18n } = useTranslation('senders');
  const { whole } = useNumbers();
  if (errors.length === 0) return null;
  const language = i18n.language === 'pt-BR' ? 'pt-BR' : 'en';
  return (
    <div>
      <Text size="xs" c="dimmed" pb={4}>
        {t('errors.title')}
      </Text>
      <Stack gap="sm">
        {errors.map(({ outcome, errorCode, times, lastAt, explanations }) => (
          <Stack gap={2} key={`${outcome} ${errorCode}`}>
            <Group gap="xs">
              <Badge color="gray">
                {errorCode === null ? t(`outcomes.${outcome}`) : t('errors.code', { code: errorCode })}
              </Badge>
              <Text size="xs" c="dimmed">
                {t('errors.times', { count: times, times: whole(times) })} <Time at={lastAt} seconds />
              </Text>
            </Group>
            <Text size="sm">{explanations[language].meaning}</Text>
            <Text size="sm" c="dimmed">
              {t('errors.remedy', { remedy: explanations[language].remedy })}
            </Text>
          </Stack>
        ))}
      </Stack>
    </div>
  );
}
