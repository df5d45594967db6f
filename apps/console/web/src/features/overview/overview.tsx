import { Alert, SimpleGrid, Stack } from '@mantine/core';
import { IconChartBar, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { OverviewView } from '../../../../src/features/overview/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { useNumbers } from '../../hooks/formats.js';
import { Page } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { useHasSends } from '../start/nextSteps.js';
import { FirstSteps } from './firstSteps.js';
import { OverviewBalance } from './balance.js';
import { OverviewBreakdown } from './breakdown.js';
import { OverviewControls } from './controls.js';
import { Denials } from './denials.js';
import { DeliveryTimes, Outcomes } from './charts.js';
import { OverviewStatistics } from './statistics.js';
import { DAYS, overviewPath, useOverviewQuery } from './query.js';

const REFRESH_MS = 15_000;

/** Statistics of an account's sends over a day, a week or a month, by application and language. */
export function Overview() {
  const { t } = useTranslation(['overview', 'common']);
  const account = useAccount();
  const { query, set } = useOverviewQuery();
  const { data: list } = useData<{ applications: ApplicationView[] }>(`${account.path}/applications`, {
    refreshMs: REFRESH_MS,
  });
  const applications = list?.applications;
  // Without a live application, the test sends are of interest.
  const defaultMode = applications?.some(({ mode }) => mode === 'live') ? 'live' : 'test';
  const mode = query.mode ?? defaultMode;
  const read = useData<OverviewView>(
    applications === undefined ? null : overviewPath(account.path, query, mode),
    { refreshMs: REFRESH_MS },
  );
  const hasSends = useHasSends('');
  const livePerDay = mode === 'live' ? (read.data?.totals.sends ?? 0) / DAYS[query.period] : 0;

  return (
    <Page title={t('common:nav.overview')} description={t('description')}>
      {applications !== undefined && <FirstSteps applications={applications} />}
      <OverviewBalance livePerDay={livePerDay} />
      {hasSends !== false && (
        <OverviewControls query={query} mode={mode} applications={applications ?? []} set={set} />
      )}
      <Loaded read={read}>
        {(overview) =>
          hasSends !== false && <OverviewContent overview={overview} isHourly={query.period === 'day'} />
        }
      </Loaded>
    </Page>
  );
}

function OverviewContent({ overview, isHourly }: { overview: OverviewView; isHourly: boolean }) {
  const { t } = useTranslation(['overview', 'common']);
  const { whole } = useNumbers();
  const { totals, sampled, series, applications, locales, denials } = overview;
  if (totals.sends === 0)
    return (
      <EmptyState icon={IconChartBar} title={t('none.title')}>
        {t('none.text')}
      </EmptyState>
    );
  return (
    <Stack gap="lg">
      {sampled !== null && (
        <Alert variant="light" color="gray" icon={<IconInfoCircle size={18} />}>
          {t('sampled', { formatted: whole(sampled) })}
        </Alert>
      )}
      <OverviewStatistics totals={totals} />
      <Outcomes series={series} isHourly={isHourly} />
      <DeliveryTimes series={series} isHourly={isHourly} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <OverviewBreakdown
          title={t('byApplication')}
          column={t('columns.application')}
          rows={applications.map(({ applicationId, name, ...statistics }) => ({
            ...statistics,
            id: applicationId,
            name,
          }))}
        />
        <OverviewBreakdown
          title={t('byLocale')}
          column={t('columns.locale')}
          rows={locales.map(({ locale, ...statistics }) => ({
            ...statistics,
            id: locale,
            name: t(`common:languages.${locale}`),
          }))}
        />
      </SimpleGrid>
      {denials.length > 0 && <Denials denials={denials} />}
    </Stack>
  );
}
