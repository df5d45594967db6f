import { Badge, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HealthView } from '../../../../src/features/health/view.js';
import { Small } from '../../components/facts.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';
import { SEVERITIES } from './severities.js';

interface Statistic {
  name: keyof HealthView['states'];
  /** Null when it could not be read. */
  value: string | null;
  detail: string | null;
}

/** The statistics behind the verdict: backlogs, calls to Meta, and processes. */
export function Statistics({ view }: { view: HealthView }) {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const statistics = [
    ...useBacklogs(view),
    ...useProvider(view),
    ...useProcesses(view),
    ...useServers(view),
    ...useMails(view),
  ];
  const isFine = ({ name, value }: Statistic): boolean => value !== null && view.states[name] === 'ok';
  const fine = statistics.filter(isFine);
  return (
    <>
      <Cards view={view} statistics={statistics.filter((one) => !isFine(one))} />
      <details>
        <Text component="summary" pb="sm">
          {t('fine', { count: fine.length, number: whole(fine.length) })}
        </Text>
        <Cards view={view} statistics={fine} />
      </details>
    </>
  );
}

function Cards({ view, statistics }: { view: HealthView; statistics: readonly Statistic[] }) {
  if (statistics.length === 0) return null;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
      {statistics.map((statistic) => (
        <StatisticCard key={statistic.name} view={view} {...statistic} />
      ))}
    </SimpleGrid>
  );
}

/** One statistic: state, value and detail. Its incident contains the remedy. */
function StatisticCard({ name, view, value, detail }: Statistic & { view: HealthView }) {
  const { t } = useTranslation('health');
  const state = value === null && view.states[name] === 'ok' ? 'degraded' : view.states[name];
  const { color, icon: Icon } = SEVERITIES[state];
  return (
    <Paper withBorder p="md" component="section" aria-label={t(`statistics.${name}`)}>
      <Stack gap={4}>
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <Small fw={550}>{t(`statistics.${name}`)}</Small>
          <Badge color={color} leftSection={<Icon size={13} />}>
            {t(`states.${state}`)}
          </Badge>
        </Group>
        <Text size="xl" fw={650} className="tabular">
          {value ?? t('unread')}
        </Text>
        <Text c="dimmed">{value === null ? t('unreadText') : detail}</Text>
      </Stack>
    </Paper>
  );
}

/** Returns the function that gives the age of the oldest item of a backlog. */
function useAge(): (oldestSeconds: number | null) => string {
  const { t } = useTranslation('health');
  const { seconds } = useDurations();
  return (oldest) => (oldest === null ? t('noneWaiting') : t('oldest', { age: seconds(oldest) }));
}

/** Sends that wait for a worker, for a sender, or for the end of a hold. */
function useBacklogs({ waiting }: HealthView): Statistic[] {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const { seconds } = useDurations();
  const age = useAge();
  if (waiting === null) return unread('due', 'forSender', 'held');
  const { due, forSender, held, underWay } = waiting;
  return [
    {
      name: 'due',
      value: due.oldestSeconds === null ? t('none') : seconds(due.oldestSeconds),
      detail:
        due.count === 0
          ? t('underWay', { number: whole(underWay.count) })
          : t('due', { count: due.count, number: whole(due.count), underWay: whole(underWay.count) }),
    },
    { name: 'forSender', value: whole(forSender.count), detail: age(forSender.oldestSeconds) },
    { name: 'held', value: whole(held.count), detail: age(held.oldestSeconds) },
  ];
}

/** Calls to Meta and their outcomes. */
function useProvider({ attempts, provider, receipts, ended, webhooks }: HealthView): Statistic[] {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const { seconds } = useDurations();
  const age = useAge();
  const calls = Object.values(attempts?.at(-2)?.outcomes ?? {}).reduce((sum, count) => sum + count, 0);
  return [
    {
      name: 'attempts',
      value: attempts && whole(calls),
      detail:
        provider &&
        t('answers', {
          count: provider.calls,
          number: whole(provider.calls),
          accepted: whole(provider.accepted),
          refused: whole(provider.calls - provider.accepted - provider.failing),
          failing: whole(provider.failing),
        }),
    },
    {
      name: 'latency',
      value: provider && (provider.secondsMedian === null ? '–' : seconds(provider.secondsMedian)),
      detail:
        provider &&
        (provider.secondsP95 === null ? t('noCalls') : t('p95', { time: seconds(provider.secondsP95) })),
    },
    {
      name: 'receipts',
      value: receipts && whole(receipts.lastMinute),
      detail: receipts && t('tenMinutes', { number: whole(receipts.lastTenMinutes) }),
    },
    {
      name: 'receiptsDue',
      value: receipts && whole(receipts.due),
      detail: receipts && age(receipts.oldestDueSeconds),
    },
    {
      name: 'ended',
      value: ended && whole(ended.failed),
      detail: ended && t('ended', { delivered: whole(ended.delivered) }),
    },
    {
      name: 'webhooks',
      value: webhooks && whole(webhooks.rejected),
      detail: webhooks && t('webhooks', { accepted: whole(webhooks.accepted) }),
    },
  ];
}

function useProcesses({ senders, loops, queues }: HealthView): Statistic[] {
  const { t } = useTranslation(['health', 'common']);
  const { whole } = useNumbers();
  const { seconds } = useDurations();
  const able = senders?.filter(({ state }) => state === 'active').length ?? 0;
  const swept = loops?.find(({ loop }) => loop === 'sweep');
  const jobs = (state: 'waiting' | 'active'): string =>
    whole((queues ?? []).reduce((sum, queue) => sum + queue[state], 0));
  return [
    {
      name: 'senders',
      value: senders && t('able', { able: whole(able), all: whole(senders.length) }),
      detail:
        senders && t(senders.length === 0 ? 'noSenders' : able === senders.length ? 'allAble' : 'someAble'),
    },
    {
      name: 'loops',
      value:
        loops &&
        (swept === undefined ? t('common:words.never') : t('ago', { age: seconds(swept.secondsAgo) })),
      detail: loops && t('workers', { count: workersOf(loops) }),
    },
    {
      name: 'queues',
      value: queues && jobs('waiting'),
      detail: queues && t('jobs', { active: jobs('active') }),
    },
  ];
}

function useServers({ redisMs, postgresqlMs, connections }: HealthView): Statistic[] {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const { milliseconds } = useDurations();
  return [
    { name: 'redis', value: redisMs === null ? null : milliseconds(redisMs), detail: t('roundTrip') },
    {
      name: 'postgresql',
      value: postgresqlMs === null ? null : milliseconds(postgresqlMs),
      detail:
        connections && t('connections', { used: whole(connections.used), most: whole(connections.most) }),
    },
  ];
}

/** Mails that wait for the SMTP server. */
function useMails({ mails }: HealthView): Statistic[] {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const age = useAge();
  if (mails?.isOn === false) return [{ name: 'mail', value: t('mails.off'), detail: t('mails.offDetail') }];
  const detail = (): string[] => {
    if (mails === null) return [];
    const { givenUp, error, oldestSeconds } = mails;
    return [
      age(oldestSeconds),
      ...(givenUp > 0 ? [t('mails.givenUp', { count: givenUp, number: whole(givenUp) })] : []),
      ...(error === null ? [] : [t('mails.error', { error })]),
    ];
  };
  return [{ name: 'mail', value: mails && whole(mails.waiting), detail: mails && detail().join(' · ') }];
}

const unread = (...names: Statistic['name'][]): Statistic[] =>
  names.map((name) => ({ name, value: null, detail: null }));

/** The number of workers with a heartbeat in the last minute. */
function workersOf(loops: NonNullable<HealthView['loops']>): number {
  return new Set(loops.filter(({ secondsAgo }) => secondsAgo < 60).map(({ workerId }) => workerId)).size;
}
