import { Anchor, Badge, Group, Paper, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { SenderView } from '../../../../src/features/senders/view.js';
import { SenderBadge } from '../../components/badges.js';
import { DataTable } from '../../components/dataTable.js';
import { useNumbers } from '../../hooks/formats.js';
import { useSenders } from '../../hooks/senders.js';
import { useAttention } from './attention.js';

const QUALITIES = { GREEN: 'teal', YELLOW: 'orange', RED: 'red' } as const;
const isRated = (value: string): value is keyof typeof QUALITIES => value in QUALITIES;

/** The senders, one row each; the number links to the sender's page. */
export function SenderList({ senders }: { senders: readonly SenderView[] }) {
  const { t } = useTranslation(['senders', 'common']);
  const { path, account } = useSenders();
  return (
    <Paper withBorder p="xs">
      <DataTable
        label={t('common:nav.senders')}
        rows={senders}
        getRowKey={({ id }) => id}
        style={{ whiteSpace: 'nowrap' }}
        columns={[
          {
            title: t('list.columns.number'),
            isName: true,
            render: ({ id, number }) => (
              <Anchor component={Link} to={`${path}/${id}`} className="tabular" inherit fw={550}>
                {number}
              </Anchor>
            ),
          },
          account === undefined && {
            title: t('list.columns.owner'),
            visibleFrom: 'md',
            render: ({ accountName }) => (
              <Text inherit truncate maw={180}>
                {accountName ?? t('list.shared')}
              </Text>
            ),
          },
          { title: t('common:words.status'), render: (sender) => <SenderBadge {...sender} /> },
          {
            title: t('provider.facts.quality'),
            visibleFrom: 'sm',
            render: (sender) => <Quality sender={sender} />,
          },
          {
            title: t('list.columns.recipients'),
            visibleFrom: 'md',
            render: (sender) => <Recipients sender={sender} />,
          },
          {
            title: t('list.columns.calls'),
            visibleFrom: 'xl',
            render: (sender) => <Calls sender={sender} />,
          },
          {
            title: t('list.columns.undelivered'),
            visibleFrom: 'lg',
            render: (sender) => <Undelivered sender={sender} />,
          },
          {
            title: t('list.columns.attention'),
            visibleFrom: 'sm',
            // Takes the remaining width.
            w: '100%',
            maw: 0,
            style: { minWidth: 160 },
            render: (sender) => <Attention sender={sender} />,
          },
        ]}
      />
    </Paper>
  );
}

function Quality({ sender: { provider } }: { sender: SenderView }) {
  const { t } = useTranslation('senders');
  const quality = provider.facts.find(({ name }) => name === 'quality')?.value;
  if (quality === undefined || !isRated(quality)) return '–';
  return (
    <Badge variant="dot" color={QUALITIES[quality]}>
      {t(`list.qualities.${quality}`)}
    </Badge>
  );
}

/** The number of people messaged in 24 hours, out of the messaging limit. */
function Recipients({ sender: { provider } }: { sender: SenderView }) {
  const { t } = useTranslation('senders');
  const { whole } = useNumbers();
  const { recipients24h: used, recipientsMax: most } = provider;
  if (used === null) return '–';
  return most === null ? whole(used) : t('list.of', { used: whole(used), most: whole(most) });
}

function Calls({ sender: { outcomes } }: { sender: SenderView }) {
  const { t } = useTranslation('senders');
  const { whole } = useNumbers();
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const failed = all - (outcomes.accepted ?? 0);
  return failed === 0 ? whole(all) : t('list.failed', { all: whole(all), number: whole(failed) });
}

/** The share of the messages of the last day that never arrived. */
function Undelivered({ sender: { deliveries } }: { sender: SenderView }) {
  const { share } = useNumbers();
  const { accepted, undelivered } = deliveries?.lastDay ?? { accepted: 0, undelivered: 0 };
  return accepted === 0 ? '–' : share(undelivered / accepted);
}

/** The most important problem, and the number of other problems. */
function Attention({ sender }: { sender: SenderView }) {
  const attentionOf = useAttention();
  const [first, ...others] = attentionOf(sender);
  if (first === undefined) return '–';
  return (
    <Group gap={6} wrap="nowrap">
      <Text inherit truncate title={first}>
        {first}
      </Text>
      {others.length > 0 && <Text inherit c="dimmed">{`+${others.length}`}</Text>}
    </Group>
  );
}
