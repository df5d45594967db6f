import { Button, Stack, Text } from '@mantine/core';
import { IconListDetails } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { HealthView } from '../../../../src/features/health/view.js';
import { useData } from '../../api/queries.js';
import { Page } from '../../components/page.js';
import { Failure, Loading } from '../../components/states.js';
import { AttemptsChart } from './attemptsChart.js';
import { History } from './history.js';
import { Statistics } from './statistics.js';
import { OwnWaitingTable, QueueTable, SenderTable, WorkerTable } from './tables.js';
import { Unavailable, Verdict } from './verdict.js';

const REFRESH_MS = 3_000;

/** Where a problem is: our side, Redis, PostgreSQL or Meta. A verdict, and the statistics behind it. */
export function Health() {
  const { t } = useTranslation(['health', 'common']);
  const { data, error, failureReason, refetch } = useData<HealthView>('/staff/health', {
    refreshMs: REFRESH_MS,
  });
  // Shown at the first failure, not after the retries: people open this page because something is wrong.
  const failure = error ?? failureReason;
  return (
    <Page
      title={t('common:nav.health')}
      description={t('description')}
      actions={
        // A separate web application.
        <Button component="a" href="/board" variant="default" leftSection={<IconListDetails size={16} />}>
          {t('common:nav.board')}
        </Button>
      }
    >
      {failure !== null && failure.status >= 400 && failure.status < 500 ? (
        <Failure problem={failure} onRetry={() => void refetch()} />
      ) : (
        <>
          {failure !== null && <Unavailable problem={failure} since={data?.at} />}
          {failure === null && data !== undefined && <Verdict view={data} />}
        </>
      )}
      {data === undefined && failure === null && <Loading />}
      {data !== undefined && (
        <Stack gap="lg" opacity={failure === null ? 1 : 0.6}>
          <Statistics view={data} />
          <History view={data} />
          <AttemptsChart attempts={data.attempts} />
          <SenderTable senders={data.senders} />
          {data.ownWaiting?.length !== 0 && <OwnWaitingTable ownWaiting={data.ownWaiting} />}
          <details>
            <Text component="summary" pb="sm">
              {t('processes')}
            </Text>
            <Stack gap="lg">
              <QueueTable queues={data.queues} />
              <WorkerTable loops={data.loops} />
            </Stack>
          </details>
        </Stack>
      )}
    </Page>
  );
}
