import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HealthView } from '../../../../src/features/health/view.js';
import { useData } from '../../api/queries.js';
import { Page } from '../../components/page.js';
import { Failure, Loading } from '../../components/states.js';
import { AttemptsChart } from './attemptsChart.js';
import { Statistics } from './statistics.js';
import { QueueTable, SenderTable, WorkerTable } from './tables.js';
import { Lost, VerdictBanner } from './verdict.js';

const REFRESH_MS = 3_000;

/** Is it us, Redis, PostgreSQL or Meta? A verdict, and the figures that it is made from. */
export function Health() {
  const { t } = useTranslation('health');
  const { data, error, failureReason, refetch } = useData<HealthView>('/operations/health', {
    refreshMs: REFRESH_MS,
  });
  // At once, and not after the tries that follow: the page is looked at because something is wrong.
  const lost = error ?? failureReason;
  return (
    <Page title={t('title')} description={t('description')}>
      {lost !== null && lost.status >= 400 && lost.status < 500 ? (
        <Failure problem={lost} onRetry={() => void refetch()} />
      ) : (
        <>
          {lost !== null && <Lost problem={lost} since={data?.at} />}
          {lost === null && data !== undefined && <VerdictBanner view={data} />}
        </>
      )}
      {data === undefined && lost === null && <Loading />}
      {data !== undefined && (
        <Stack gap="lg" opacity={lost === null ? 1 : 0.6}>
          <Statistics view={data} />
          <AttemptsChart attempts={data.attempts} />
          <QueueTable queues={data.queues} />
          <SenderTable senders={data.senders} />
          <WorkerTable loops={data.loops} />
        </Stack>
      )}
    </Page>
  );
}
