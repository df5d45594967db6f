import { Anchor, Group, Paper, Stack, Text, ThemeIcon, Title, useMatches } from '@mantine/core';
import { IconHandStop, IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { HoldsView, HoldView } from '../../../../src/features/holds/view.js';
import { useData } from '../../api/queries.js';
import { useMayControlDelivery } from '../../app/session.js';
import { DataTable } from '../../components/dataTable.js';
import { DialogButton } from '../../components/dialog.js';
import { Small } from '../../components/facts.js';
import { Page, Section } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';
import { HoldButton, ReleaseButton } from './holdButtons.js';
import { HoldForm } from './holdForm.js';

const REFRESH_MS = 3_000;

export function Holds() {
  const { t } = useTranslation(['holds', 'common']);
  const mayControlDelivery = useMayControlDelivery();
  const read = useData<HoldsView>('/staff/holds', { refreshMs: REFRESH_MS });
  return (
    <Page
      title={t('common:nav.holds')}
      description={
        <>
          {t('description')}{' '}
          <Anchor component={Link} to="/staff/senders" inherit underline="always">
            {t('senders')}
          </Anchor>
        </>
      }
    >
      <Loaded read={read}>
        {(data) => (
          <>
            <LiveDelivery view={data} />
            <Section
              title={t('others')}
              actions={
                mayControlDelivery &&
                (['country', 'account'] as const).map((kind) => (
                  <DialogButton key={kind} label={t(`target.${kind}.set`)} title={t(`target.${kind}.set`)}>
                    <HoldForm kind={kind} />
                  </DialogButton>
                ))
              }
            >
              <HoldTable view={data} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Whether live delivery is running, and the hold of all of it. */
function LiveDelivery({ view }: { view: HoldsView }) {
  const { t } = useTranslation(['holds', 'common']);
  const { whole } = useNumbers();
  const mayControlDelivery = useMayControlDelivery();
  const hold = view.holds.find(({ kind }) => kind === 'live');
  const Icon = hold === undefined ? IconPlayerPlay : IconHandStop;
  return (
    <Paper withBorder p="lg" component="section" aria-label={t('kinds.live')}>
      <Group justify="space-between" gap="md">
        <Group gap="md" wrap="nowrap" align="flex-start">
          <ThemeIcon size={48} radius="xl" color={hold === undefined ? 'teal.9' : 'red.9'}>
            <Icon size={26} />
          </ThemeIcon>
          <Stack gap={2}>
            <Title order={2} size="h3">
              {hold === undefined ? t('live.runs') : t('live.held')}
            </Title>
            {hold !== undefined && (
              <Text>
                {t('common:words.since')} <Time at={hold.since} /> ·{' '}
                {t('banner.by', { who: hold.setBy, reason: hold.reason })}
              </Text>
            )}
            <Text c="dimmed">{t('waiting', { count: view.waiting, waiting: whole(view.waiting) })}</Text>
          </Stack>
        </Group>
        {mayControlDelivery && hold === undefined && (
          <HoldButton
            hold={{ kind: 'live', target: '' }}
            title={t('live.confirm')}
            action={t('live.set')}
            button={{
              variant: 'filled',
              size: 'sm',
              color: 'red.9',
              leftSection: <IconHandStop size={18} />,
            }}
          />
        )}
        {mayControlDelivery && hold !== undefined && <ReleaseButton hold={hold} button={{ size: 'sm' }} />}
      </Group>
    </Paper>
  );
}

/** Countries and accounts on hold. */
function HoldTable({ view: { holds } }: { view: HoldsView }) {
  const { t } = useTranslation(['holds', 'common']);
  const { whole } = useNumbers();
  const mayControlDelivery = useMayControlDelivery();
  const isNarrow = useMatches({ base: true, sm: false });
  return (
    <DataTable
      label={t('others')}
      minWidth={300}
      rows={holds.filter(({ kind }) => kind !== 'live')}
      empty={
        <EmptyState icon={IconHandStop} title={t('none.title')}>
          {t('none.text')}
        </EmptyState>
      }
      getRowKey={({ kind, target }) => `${kind} ${target}`}
      columns={[
        {
          title: t('columns.what'),
          render: (hold) => (
            <>
              <Target hold={hold} />
              <Small>{t(`kinds.${hold.kind}`)}</Small>
              {isNarrow && <Reason hold={hold} />}
            </>
          ),
        },
        !isNarrow && { title: t('columns.reason'), render: (hold) => <Reason hold={hold} /> },
        { title: t('common:words.since'), visibleFrom: 'sm', render: ({ since }) => <Time at={since} /> },
        {
          title: t('columns.waiting'),
          ta: 'right',
          render: ({ waiting }) => whole(waiting),
        },
        mayControlDelivery && {
          title: t('release.button'),
          isTitleHidden: true,
          ta: 'right',
          render: (hold) => <ReleaseButton hold={hold} />,
        },
      ]}
    />
  );
}

function Reason({ hold: { reason, setBy } }: { hold: HoldView }) {
  return (
    <>
      <Text>{reason}</Text>
      <Small>{setBy}</Small>
    </>
  );
}

function Target({ hold: { kind, target, accountName } }: { hold: HoldView }) {
  const nameOf = useCountryName();
  if (kind === 'country') return <Text>{nameOf(target)}</Text>;
  return (
    <Anchor component={Link} to={`/staff/accounts/${target}`}>
      {accountName ?? target}
    </Anchor>
  );
}
