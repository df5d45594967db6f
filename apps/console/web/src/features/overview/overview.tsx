import { Alert, Stack, Text } from '@mantine/core';
import { IconChartBar, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { OverviewView } from '../../../../src/features/overview/view.js';
import { useAside, useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { useNumbers } from '../../hooks/formats.js';
import { Download } from '../../components/download.js';
import { Page } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { useAccountBack } from '../accounts/accountBack.js';
import { FirstSteps, useHasSends } from '../start/nextSteps.js';
import { OverviewBalance } from './balance.js';
import { Breakdowns, Denials } from './breakdowns.js';
import { KeyNotices } from './keyNotices.js';
import { OverviewControls } from './controls.js';
import { Charts } from './charts.js';
import { OverviewStatistics, type LinkToSends } from './statistics.js';
import { DAY_MS, sendsLink, serverQuery, spanOf, useOverviewQuery } from './query.js';
import { modeOf } from '../sends/sendQuery.js';

const REFRESH_MS = 15_000;

/** Statistics of an account's sends over a period, next to the previous period, by country, reason, application and language. */
export function Overview() {
  const { t } = useTranslation(['overview', 'common']);
  const account = useAccount();
  const { query, set } = useOverviewQuery();
  const list = useAside<{ applications: ApplicationView[] }>(`${account.path}/applications`, {
    refreshMs: REFRESH_MS,
  });
  const applications = list?.applications;
  const span = spanOf(query);
  const asked = span && serverQuery(span, query);
  // If the URL has no mode, the server chooses one: reading the applications first would cost another round trip.
  const read = useData<OverviewView>(asked && `${account.path}/overview?${asked}`, { refreshMs: REFRESH_MS });
  const mode = query.mode ?? read.data?.mode ?? (applications && modeOf(applications));
  const hasSends = useHasSends('');
  const days = span === null ? 1 : (span.to.getTime() - span.from.getTime()) / DAY_MS;
  const livePerDay = mode === 'live' ? (read.data?.totals.sends ?? 0) / days : 0;
  // Until the mode is known, nothing that depends on it is shown.
  const isShown = hasSends !== false && applications !== undefined && mode !== undefined;

  return (
    <Page
      title={t('common:nav.overview')}
      {...useAccountBack()}
      description={t('description')}
      actions={asked && hasSends && <Download path={`${account.path}/overview.csv?${asked}`} />}
    >
      {applications !== undefined && !account.isForStaff && <FirstSteps applications={applications} />}
      <OverviewBalance livePerDay={livePerDay} />
      <KeyNotices />
      {isShown && <OverviewControls query={query} mode={mode} applications={applications} set={set} />}
      {span === null ? (
        <Text c="dimmed">{t('range.choose')}</Text>
      ) : (
        <Loaded read={read}>
          {(overview) =>
            isShown && (
              <OverviewContent
                overview={overview}
                isHourly={span.bucket === 'hour'}
                linkTo={(filter) => sendsLink(`${account.path}/sends`, query, mode, filter)}
              />
            )
          }
        </Loaded>
      )}
    </Page>
  );
}

function OverviewContent({
  overview,
  isHourly,
  linkTo,
}: {
  overview: OverviewView;
  isHourly: boolean;
  linkTo: LinkToSends;
}) {
  const { t } = useTranslation('overview');
  const { whole } = useNumbers();
  const { totals, previous, sampled, series, denials } = overview;
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
      <OverviewStatistics totals={totals} previous={previous} linkTo={linkTo} />
      <Charts series={series} isHourly={isHourly} />
      <Breakdowns overview={overview} linkTo={linkTo} />
      {denials.length > 0 && <Denials denials={denials} />}
    </Stack>
  );
}
