import { Anchor, Badge, Code, Text } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { HealthView } from '../../../../src/features/health/view.js';
import { SenderBadge } from '../../components/badges.js';
import { DataTable } from '../../components/dataTable.js';
import { Small } from '../../components/facts.js';
import { Section } from '../../components/page.js';
import { Time } from '../../components/times.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';
import { useBlockReason } from '../../hooks/blockReason.js';

const LOOPS = ['deliver', 'sweep', 'breaker', 'clean_up'] as const;

/** A section with a table; `rows` is null when they could not be read. */
function TableSection<Row>({
  title,
  description,
  actions,
  rows,
  none,
  ...table
}: Pick<ComponentProps<typeof DataTable<Row>>, 'getRowKey' | 'columns'> & {
  title: string;
  description?: string;
  actions?: ReactNode;
  rows: readonly Row[] | null;
  none: string;
}) {
  const { t } = useTranslation('health');
  return (
    <Section title={title} description={description} actions={actions}>
      {rows === null ? (
        <Text>{t('unreadText')}</Text>
      ) : (
        <DataTable label={title} minWidth={480} rows={rows} empty={<Text>{none}</Text>} {...table} />
      )}
    </Section>
  );
}

export function QueueTable({ queues }: Pick<HealthView, 'queues'>) {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  return (
    <TableSection
      title={t('queues.title')}
      description={t('queues.text')}
      actions={<Anchor href="/board">{t('queues.board')}</Anchor>}
      none={t('none')}
      rows={queues}
      getRowKey={({ name }) => name}
      columns={[
        {
          title: t('queues.name'),
          isName: true,
          fw: 500,
          render: ({ name, isPaused }) => (
            <>
              <Code>{name}</Code> {isPaused && <Badge color="red">{t('queues.paused')}</Badge>}
            </>
          ),
        },
        ...(['waiting', 'active', 'failed'] as const).map((state) => ({
          title: t(`queues.${state}`),
          ta: 'end' as const,
          render: (queue: NonNullable<HealthView['queues']>[number]) => whole(queue[state]),
        })),
      ]}
    />
  );
}

/** The senders: which can send, and why others cannot. */
export function SenderTable({ senders }: Pick<HealthView, 'senders'>) {
  const { t } = useTranslation(['health', 'common']);
  const reasonOf = useBlockReason();
  return (
    <TableSection
      title={t('common:nav.senders')}
      actions={
        <Anchor component={Link} to="/staff/senders">
          {t('senders.all')}
        </Anchor>
      }
      none={t('senders.none')}
      rows={senders}
      getRowKey={({ id }) => id}
      columns={[
        {
          title: t('senders.number'),
          isName: true,
          fw: 500,
          breaksWords: true,
          render: ({ id, account, number, blocks: [block] }) => (
            <>
              <Anchor component={Link} to={`/staff/senders/${id}`} inherit style={{ whiteSpace: 'nowrap' }}>
                {number}
              </Anchor>
              {account !== null && <Small>{t('senders.ofAccount', { account: account.name })}</Small>}
              {block !== undefined && <Small>{reasonOf(block)}</Small>}
            </>
          ),
        },
        {
          title: t('common:words.status'),
          render: ({ state, blocks: [block] }) => (
            <SenderBadge state={state} isBlockedByProvider={block?.cause === 'provider'} />
          ),
        },
        {
          title: t('senders.until'),
          render: ({ state, blocks: [block] }) =>
            state === 'active' || block?.until == null ? '–' : <Time at={block.until} seconds />,
        },
      ]}
    />
  );
}

export function OwnWaitingTable({ ownWaiting }: Pick<HealthView, 'ownWaiting'>) {
  const { t } = useTranslation(['health', 'common']);
  const { whole } = useNumbers();
  const { seconds } = useDurations();
  return (
    <TableSection
      title={t('ownWaiting.title')}
      none={t('none')}
      rows={ownWaiting}
      getRowKey={({ account }) => account.id}
      columns={[
        {
          title: t('common:words.account'),
          isName: true,
          fw: 500,
          breaksWords: true,
          render: ({ account }) => (
            <Anchor component={Link} to={`/staff/accounts/${account.id}`}>
              {account.name}
            </Anchor>
          ),
        },
        { title: t('common:nav.sends'), ta: 'end', render: ({ waiting }) => whole(waiting.count) },
        {
          title: t('ownWaiting.oldest'),
          ta: 'end',
          render: ({ waiting: { oldestSeconds } }) => (oldestSeconds === null ? '–' : seconds(oldestSeconds)),
        },
      ]}
    />
  );
}

/** When each worker last completed each of its periodic tasks. */
export function WorkerTable({ loops }: Pick<HealthView, 'loops'>) {
  const { t } = useTranslation('health');
  const { seconds } = useDurations();
  const lastRun = (workerId: string, name: (typeof LOOPS)[number]): string => {
    const run = loops?.find((one) => one.workerId === workerId && one.loop === name);
    return run === undefined ? '–' : t('ago', { age: seconds(run.secondsAgo) });
  };
  return (
    <TableSection
      title={t('workerTable.title')}
      description={t('workerTable.text')}
      none={t('workerTable.none')}
      rows={loops && [...new Set(loops.map(({ workerId }) => workerId))]}
      getRowKey={(workerId) => workerId}
      columns={[
        {
          title: t('workerTable.worker'),
          isName: true,
          render: (workerId) => <Code>{workerId.slice(-8)}</Code>,
        },
        ...LOOPS.map((loop) => ({
          title: t(`workerTable.loops.${loop}`),
          ta: 'end' as const,
          render: (workerId: string) => lastRun(workerId, loop),
        })),
      ]}
    />
  );
}
