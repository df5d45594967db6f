import { Badge, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HealthCheck, HealthView } from '../../../../src/features/health/view.js';
import { SEVERITIES } from './verdict.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';

/** The statistics behind the verdict, each with its state and, unless it is OK, with what to do. */
export function Statistics({ view }: { view: HealthView }) {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const { milliseconds, seconds } = useDurations();
  const { waiting, provider, receipts, connections, loops, queues, senders } = view;
  const swept = loops?.find(({ loop }) => loop === 'sweep');
  const able = senders?.filter(({ state }) => state === 'active').length ?? 0;
  const jobs = (state: 'waiting' | 'active' | 'delayed'): number =>
    (queues ?? []).reduce((sum, queue) => sum + queue[state], 0);
  const age = (oldest: number | null): string =>
    oldest === null ? t('noneWaiting') : t('oldest', { age: seconds(oldest) });
  const minute = view.attempts?.at(-2);
  const lastMinute = Object.values(minute?.outcomes ?? {}).reduce((sum, count) => sum + count, 0);

  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
      <StatisticCard
        name="due"
        view={view}
        value={
          waiting && (waiting.due.oldestSeconds === null ? t('none') : seconds(waiting.due.oldestSeconds))
        }
        detail={
          waiting &&
          (waiting.due.count === 0
            ? t('underWay', { number: whole(waiting.underWay) })
            : t('due', {
                count: waiting.due.count,
                number: whole(waiting.due.count),
                underWay: whole(waiting.underWay),
              }))
        }
      />
      <StatisticCard
        name="forSender"
        view={view}
        value={waiting && whole(waiting.forSender.count)}
        detail={waiting && age(waiting.forSender.oldestSeconds)}
      />
      <StatisticCard
        name="held"
        view={view}
        value={waiting && whole(waiting.held.count)}
        detail={waiting && age(waiting.held.oldestSeconds)}
      />
      <StatisticCard
        name="attempts"
        view={view}
        value={view.attempts && whole(lastMinute)}
        detail={
          provider &&
          t('answers', {
            count: provider.calls,
            number: whole(provider.calls),
            accepted: whole(provider.accepted),
            failing: whole(provider.failing),
          })
        }
      />
      <StatisticCard
        name="latency"
        view={view}
        value={provider && (provider.secondsMedian === null ? '–' : seconds(provider.secondsMedian))}
        detail={
          provider &&
          (provider.secondsP95 === null ? t('noCalls') : t('p95', { time: seconds(provider.secondsP95) }))
        }
      />
      <StatisticCard
        name="receipts"
        view={view}
        value={receipts && whole(receipts.lastMinute)}
        detail={receipts && t('tenMinutes', { number: whole(receipts.lastTenMinutes) })}
      />
      <StatisticCard
        name="receiptsDue"
        view={view}
        value={receipts && whole(receipts.due)}
        detail={receipts && age(receipts.oldestDueSeconds)}
      />
      <StatisticCard
        name="ended"
        view={view}
        value={view.ended && whole(view.ended.failed)}
        detail={view.ended && t('ended', { delivered: whole(view.ended.delivered) })}
      />
      <StatisticCard
        name="webhooks"
        view={view}
        value={view.webhooks && whole(view.webhooks.invalid_signature + view.webhooks.refused)}
        detail={view.webhooks && t('webhooks', { accepted: whole(view.webhooks.accepted) })}
      />
      <StatisticCard
        name="senders"
        view={view}
        value={senders && t('able', { able: whole(able), all: whole(senders.length) })}
        detail={
          senders && t(senders.length === 0 ? 'noSenders' : able === senders.length ? 'allAble' : 'someAble')
        }
      />
      <StatisticCard
        name="loops"
        view={view}
        value={loops && (swept === undefined ? t('never') : t('ago', { age: seconds(swept.secondsAgo) }))}
        detail={loops && t('workers', { count: workersOf(loops) })}
      />
      <StatisticCard
        name="queues"
        view={view}
        value={queues && whole(jobs('waiting'))}
        detail={queues && t('jobs', { active: whole(jobs('active')), delayed: whole(jobs('delayed')) })}
      />
      <StatisticCard
        name="redis"
        view={view}
        value={view.redisMs === null ? null : milliseconds(view.redisMs)}
        detail={t('roundTrip')}
      />
      <StatisticCard
        name="postgresql"
        view={view}
        value={view.postgresqlMs === null ? null : milliseconds(view.postgresqlMs)}
        detail={
          connections && t('connections', { used: whole(connections.used), most: whole(connections.most) })
        }
      />
    </SimpleGrid>
  );
}

/** The number of workers with a heartbeat in the last minute. */
function workersOf(loops: NonNullable<HealthView['loops']>): number {
  return new Set(loops.filter(({ secondsAgo }) => secondsAgo < 60).map(({ workerId }) => workerId)).size;
}

/** One statistic: state, value, detail, and what to do unless it is OK. */
function StatisticCard({
  name,
  view,
  value,
  detail,
}: {
  name: HealthCheck;
  view: HealthView;
  /** Null when it could not be read. */
  value: string | null;
  detail: string | null;
}) {
  const { t } = useTranslation('health');
  const state = value === null && view.states[name] === 'ok' ? 'degraded' : view.states[name];
  const { color, icon: Icon } = SEVERITIES[state];
  const found = view.findings.find(({ check }) => check === name);
  return (
    <Paper withBorder p="md" component="section" aria-label={t(`statistics.${name}`)}>
      <Stack gap={4}>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Text size="xs" c="dimmed" fw={550}>
            {t(`statistics.${name}`)}
          </Text>
          <Badge color={color} leftSection={<Icon size={13} />}>
            {t(`states.${state}`)}
          </Badge>
        </Group>
        <Text size="xl" fw={650} className="tabular">
          {value ?? t('unread')}
        </Text>
        <Text size="sm" c="dimmed">
          {value === null ? t('unreadText') : detail}
        </Text>
        {found !== undefined && <Text size="sm">{t(`findings.${found.what}.todo`)}</Text>}
      </Stack>
    </Paper>
  );
}
