import { Alert, Anchor, Code, Grid, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { IconChartDots, IconPlugConnectedX } from '@tabler/icons-react';
import { Trans, useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import type { DashboardView, PanelDescription, RangeName } from '../../../../src/features/metrics/view.js';
import { useData } from '../../api/queries.js';
import { Page } from '../../components/page.js';
import { EmptyState, Failure, Loading } from '../../components/states.js';
import { useDashboardText } from './dashboardTexts.js';
import { MetricsPanel } from './panel.js';
import { usePanelFault } from './panelData.js';

const DEFAULT_RANGE: RangeName = '1h';

/** The dashboard of `deploy/grafana/onecode.json`, drawn from the operators' Prometheus. */
export function Metrics() {
  const { t } = useTranslation('metrics');
  const text = useDashboardText();
  const [parameters, setParameters] = useSearchParams();
  const { data, error, refetch } = useData<DashboardView>('/staff/metrics');
  const ranges = data?.isConfigured ? data.ranges : [];
  const range = ranges.find((one) => one === parameters.get('range')) ?? DEFAULT_RANGE;
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        ranges.length > 0 && (
          <SegmentedControl
            aria-label={t('range')}
            data={ranges.map((value) => ({ value, label: t(`ranges.${value}`) }))}
            value={range}
            onChange={(value) => setParameters({ range: value }, { replace: true })}
          />
        )
      }
    >
      {error !== null && data === undefined && <Failure problem={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data?.isConfigured === false && <NotConfigured />}
      {data?.isConfigured && <FaultNotice rows={data.rows} range={range} />}
      {data?.isConfigured &&
        data.rows.map(({ title, panels }) => (
          <Stack key={title} gap="sm" component="section" aria-label={text(title)}>
            <Title order={2} size="h4">
              {text(title)}
            </Title>
            <Grid columns={24} gap="sm">
              {panels.map((panel) => (
                <Grid.Col key={panel.id} span={spanOf(panel)}>
                  <MetricsPanel panel={panel} range={range} />
                </Grid.Col>
              ))}
            </Grid>
          </Stack>
        ))}
    </Page>
  );
}

/** What to do about panels without data, said once. */
function FaultNotice({ rows, range }: { rows: DashboardView['rows']; range: RangeName }) {
  const { t } = useTranslation('metrics');
  const fault = usePanelFault(
    rows.flatMap(({ panels }) => panels.map(({ id }) => id)),
    range,
  );
  if (fault === null) return null;
  return (
    <Alert
      color="orange"
      variant="light"
      icon={<IconPlugConnectedX size={18} />}
      title={t(`states.${fault}.title`)}
    >
      {t(`states.${fault}.text`)}
    </Alert>
  );
}

/** The file's widths are those of a wide screen; narrower ones have two panels in a row, and phones one. */
function spanOf({ kind, width }: PanelDescription) {
  const isNarrowChart = kind === 'timeseries' && width < 8;
  return { base: 24, sm: width > 12 ? 24 : 12, lg: isNarrowChart ? 12 : width, xl: width };
}

function NotConfigured() {
  const { t } = useTranslation('metrics');
  return (
    <EmptyState icon={IconChartDots} title={t('notConfigured.title')}>
      <Text inherit>
        <Trans t={t} i18nKey="notConfigured.text" components={{ name: <Code />, address: <Code /> }} />
      </Text>
      <Anchor component={Link} to="/staff/health" size="sm">
        {t('notConfigured.health')}
      </Anchor>
    </EmptyState>
  );
}
