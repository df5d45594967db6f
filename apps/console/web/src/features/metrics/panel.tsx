import {
  Group,
  Paper,
  Skeleton,
  Stack,
  Text,
  ThemeIcon,
  Title,
  Tooltip,
  UnstyledButton,
} from '@mantine/core';
import { IconDatabaseOff, IconInfoCircle, IconPlugConnectedX } from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { PanelDescription, PanelView, RangeName } from '../../../../src/features/metrics/view.js';
import { useProblemText } from '../../components/states.js';
import { useDashboardText } from './dashboardTexts.js';
import { usePanelData } from './panelData.js';
import { StatPanel } from './statPanel.js';
import { TablePanel } from './tablePanel.js';
import { TimeseriesPanel } from './timeseriesPanel.js';

/** The height of a panel's content in pixels. */
const HEIGHT = 220;

type Data = NonNullable<PanelView['data']>;

/** What the drawing of each kind of panel gets. */
export interface PanelProps {
  panel: PanelDescription;
  data: Data;
  range: RangeName;
}

const KINDS = { stat: StatPanel, table: TablePanel, timeseries: TimeseriesPanel } as const;

/** A panel of the dashboard: its title and explanation, and its data, or why there are none. */
export function MetricsPanel({ panel, range }: { panel: PanelDescription; range: RangeName }) {
  const text = useDashboardText();
  const title = text(panel.title);
  return (
    <Paper withBorder p="sm" h="100%" component="section" aria-label={title} data-panel={panel.id}>
      <Stack gap="xs" h="100%">
        <Group justify="space-between" wrap="nowrap" align="flex-start" gap={4}>
          <Title order={3} size="sm" fw={600}>
            {title}
          </Title>
          <Explanation title={title} text={text(panel.description)} />
        </Group>
        <Content panel={panel} range={range} />
      </Stack>
    </Paper>
  );
}

/** By mouse, by keyboard and by touch. */
function Explanation({ title, text }: { title: string; text: string }) {
  const { t } = useTranslation('metrics');
  return (
    <Tooltip label={text} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <UnstyledButton aria-label={t('about', { title })} c="dimmed" lh={0} p={2}>
        <IconInfoCircle size={16} aria-hidden />
      </UnstyledButton>
    </Tooltip>
  );
}

function Content({ panel, range }: { panel: PanelDescription; range: RangeName }) {
  const { t } = useTranslation('metrics');
  const problemText = useProblemText();
  const { data: view, error } = usePanelData(panel.id, range);
  if (error !== null) return <Notice icon={IconPlugConnectedX} title={problemText(error)} isFault />;
  if (view === undefined) return <Skeleton h={HEIGHT} radius="sm" aria-busy />;
  const { state, data } = view;
  if (state !== 'ok' || data === null)
    return (
      <Notice
        icon={IconPlugConnectedX}
        title={t(`states.${state === 'ok' ? 'failed' : state}.title`)}
        isFault
      />
    );
  if (!data.series.some(({ values }) => values.some((value) => value !== null)))
    return <NoData panel={panel} absent={data.absent} />;
  const Kind = KINDS[panel.kind];
  return (
    <>
      <Kind panel={panel} data={data} range={range} />
      {data.omitted > 0 && (
        <Text size="xs" c="dimmed">
          {t('omitted', { count: data.omitted })}
        </Text>
      )}
    </>
  );
}

/** Nothing to show: either nothing matches, or Prometheus does not know the metrics at all, which is no good news. */
function NoData({ panel, absent }: { panel: PanelDescription; absent: readonly string[] }) {
  const { t } = useTranslation('metrics');
  const text = useDashboardText();
  if (absent.length === 0)
    return <Notice title={panel.noValue === null ? t('none.title') : text(panel.noValue)} />;
  const isRecorded = absent.some((name) => name.includes(':'));
  return (
    <Notice
      icon={IconDatabaseOff}
      title={t('none.title')}
      text={t(isRecorded ? 'none.recorded' : 'none.absent', { names: absent.join(', ') })}
    />
  );
}

function Notice({
  icon: Icon,
  title,
  text,
  isFault = false,
}: {
  icon?: ComponentType<{ size?: number }>;
  title: ReactNode;
  text?: ReactNode;
  isFault?: boolean;
}) {
  return (
    <Stack
      align="center"
      justify="center"
      gap={6}
      ta="center"
      mih={140}
      flex={1}
      px="xs"
      data-notice={isFault ? 'fault' : 'none'}
    >
      {Icon !== undefined && (
        <ThemeIcon size={36} radius="xl" variant="light" color={isFault ? 'orange' : 'gray'}>
          <Icon size={18} />
        </ThemeIcon>
      )}
      <Text size="sm" fw={550}>
        {title}
      </Text>
      {text !== undefined && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      )}
    </Stack>
  );
}
