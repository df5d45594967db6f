import { Anchor, Badge, Code, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { HealthView } from '../../../../src/features/health/view.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';
import { useStopReason } from '../../hooks/stopReason.js';
import { Section } from '../../components/page.js';
import { SenderBadge } from '../../components/badges.js';
import { ScrollingTable } from '../../components/scrollingTable.js';
import { Time } from '../../components/times.js';

const LOOPS = ['deliver', 'sweep', 'breaker', 'clean_up'] as const;

/** A table that scrolls inside its section; `rows` is undefined when they could not be read. Its last columns are numbers. */
function Rows({
  label,
  head,
  texts = 1,
  rows,
  none,
}: {
  label: string;
  head: string[];
  /** The number of leading text columns. */
  texts?: number;
  rows: ReactNode[] | undefined;
  none: string;
}) {
  const { t } = useTranslation('health');
  if (rows === undefined) return <Text size="sm">{t('unreadText')}</Text>;
  if (rows.length === 0) return <Text size="sm">{none}</Text>;
  return (
    <ScrollingTable label={label} minWidth={480}>
      <Table.Thead>
        <Table.Tr>
          {head.map((title, n) => (
            <Table.Th key={title} ta={n < texts ? 'start' : 'end'}>
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{rows}</Table.Tbody>
    </ScrollingTable>
  );
}

/** The number of jobs in each queue, by state. */
export function QueueTable({ queues }: { queues: HealthView['queues'] }) {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  return (
    <Section
      title={t('queues.title')}
      description={t('queues.text')}
      actions={
        <Anchor href="/board" size="sm">
          {t('queues.board')}
        </Anchor>
      }
    >
      <Rows
        label={t('queues.title')}
        head={[
          t('queues.name'),
          t('queues.waiting'),
          t('queues.active'),
          t('queues.delayed'),
          t('queues.failed'),
        ]}
        none={t('none')}
        rows={queues?.map(({ name, isPaused, ...counts }) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={500}>
              <Code>{name}</Code> {isPaused && <Badge color="red">{t('queues.paused')}</Badge>}
            </Table.Th>
            {(['waiting', 'active', 'delayed', 'failed'] as const).map((state) => (
              <Table.Td key={state} ta="end">
                {whole(counts[state])}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      />
    </Section>
  );
}

/** The senders: which can send, and why others cannot. */
export function SenderTable({ senders }: { senders: HealthView['senders'] }) {
  const { t } = useTranslation('health');
  const reasonOf = useStopReason();
  return (
    <Section
      title={t('senders.title')}
      actions={
        <Anchor component={Link} to="/staff/senders" size="sm">
          {t('senders.all')}
        </Anchor>
      }
    >
      <Rows
        label={t('senders.title')}
        texts={3}
        head={[t('senders.number'), t('senders.state'), t('senders.until')]}
        none={t('senders.none')}
        rows={senders?.map(({ id, account, number, state, stops: [stop] }) => (
          <Table.Tr key={id}>
            <Table.Th scope="row" fw={500}>
              <Text inherit style={{ whiteSpace: 'nowrap' }}>
                {number}
              </Text>
              {account !== null && (
                <Text size="xs" c="dimmed">
                  {t('senders.ofAccount', { account: account.name })}
                </Text>
              )}
              {stop !== undefined && (
                <Text size="xs" c="dimmed">
                  {reasonOf(stop)}
                </Text>
              )}
            </Table.Th>
            <Table.Td>
              <SenderBadge state={state} isStoppedByProvider={stop?.cause === 'provider'} />
            </Table.Td>
            <Table.Td>{stop?.until == null ? '–' : <Time at={stop.until} seconds />}</Table.Td>
          </Table.Tr>
        ))}
      />
    </Section>
  );
}

/** The sends that wait for senders of their accounts' own, by account. */
export function OwnWaitingTable({ ownWaiting }: { ownWaiting: HealthView['ownWaiting'] }) {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const { seconds } = useDurations();
  return (
    <Section title={t('ownWaiting.title')}>
      <Rows
        label={t('ownWaiting.title')}
        head={[t('ownWaiting.account'), t('ownWaiting.sends'), t('ownWaiting.oldest')]}
        none={t('none')}
        rows={ownWaiting?.map(({ account, waiting: { count, oldestSeconds } }) => (
          <Table.Tr key={account.id}>
            <Table.Th scope="row" fw={500}>
              <Anchor component={Link} to={`/staff/accounts/${account.id}`} size="sm">
                {account.name}
              </Anchor>
            </Table.Th>
            <Table.Td ta="end">{whole(count)}</Table.Td>
            <Table.Td ta="end">{oldestSeconds === null ? '–' : seconds(oldestSeconds)}</Table.Td>
          </Table.Tr>
        ))}
      />
    </Section>
  );
}

/** When each worker last completed each of its periodic tasks. */
export function WorkerTable({ loops }: { loops: HealthView['loops'] }) {
  const { t } = useTranslation('health');
  const { seconds } = useDurations();
  const workers = loops && [...new Set(loops.map(({ workerId }) => workerId))];
  const cell = (workerId: string, name: (typeof LOOPS)[number]): string => {
    const run = loops?.find((one) => one.workerId === workerId && one.loop === name);
    return run === undefined ? '–' : t('ago', { age: seconds(run.secondsAgo) });
  };
  return (
    <Section title={t('workerTable.title')} description={t('workerTable.text')}>
      <Rows
        label={t('workerTable.title')}
        head={[t('workerTable.worker'), ...LOOPS.map((loop) => t(`workerTable.loops.${loop}`))]}
        none={t('workerTable.none')}
        rows={workers?.map((workerId) => (
          <Table.Tr key={workerId}>
            <Table.Th scope="row" fw={500}>
              <Code>{workerId.slice(-8)}</Code>
            </Table.Th>
            {LOOPS.map((loop) => (
              <Table.Td key={loop} ta="end">
                {cell(workerId, loop)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      />
    </Section>
  );
}
