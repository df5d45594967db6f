import { Button, Group, List, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { SendsView } from '../../../../src/features/sends/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Section } from '../../components/page.js';

const REFRESH_MS = 5_000;

/**
 * The steps to the first verified code, shown until there is one.
 *
 * @param hasSends whether the account has any send; undefined while unknown
 */
export function FirstSteps({
  applications,
  hasSends,
}: {
  applications: readonly ApplicationView[];
  hasSends: boolean | undefined;
}) {
  const { t } = useTranslation('overview');
  const account = useAccount();
  const verified = useHasSends('verification=verified&');
  if (hasSends === undefined || verified === undefined || verified) return null;

  const steps = [
    ['application', applications.length > 0],
    ['key', hasSends || applications.some(({ keysInUse }) => keysInUse > 0)],
    ['send', hasSends],
    ['verified', verified],
  ] as const;
  const done = steps.filter(([, isDone]) => isDone).length;
  return (
    <Section
      title={t('start.title')}
      description={
        <>
          {t('start.text')} {t('start.progress', { done, all: steps.length })}
        </>
      }
      actions={
        <Button component={Link} to={`${account.path}/applications`} size="xs">
          {t('start.action')}
        </Button>
      }
    >
      <List spacing="sm" listStyleType="none" center={false}>
        {steps.map(([name, isDone]) => (
          <List.Item
            key={name}
            icon={
              <ThemeIcon size={22} radius="xl" variant={isDone ? 'filled' : 'default'}>
                {isDone ? <IconCheck size={14} /> : <IconCircle size={10} />}
              </ThemeIcon>
            }
          >
            <Group gap={6}>
              <Text size="sm" fw={550} {...(isDone && { c: 'dimmed' })}>
                {t(`start.${name}`)}
              </Text>
              <VisuallyHidden>{t(isDone ? 'start.done' : 'start.open')}</VisuallyHidden>
            </Group>
            {!isDone && (
              <Text size="sm" c="dimmed">
                {t(`start.${name}Text`)}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
    </Section>
  );
}

/** Whether a send matches the filter; undefined while unknown. Polls until one does. */
export function useHasSends(filter: string): boolean | undefined {
  const account = useAccount();
  const { data } = useData<SendsView>(`${account.path}/sends?${filter}limit=1`, {
    refreshMs: (known) => known?.sends.length !== 1 && REFRESH_MS,
  });
  return data && data.sends.length > 0;
}
