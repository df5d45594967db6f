import { Anchor, Button, List, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconApps, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import type { ApplicationView, LimitsView } from '../../../../src/features/applications/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ModeBadge } from '../../components/badges.js';
import { DataTable } from '../../components/dataTable.js';
import { Dialog } from '../../components/dialog.js';
import { useNumbers } from '../../hooks/formats.js';
import { Page } from '../../components/page.js';
import { EmptyState, Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { CreateApplication } from './applicationForms.js';

export function Applications() {
  const { t } = useTranslation(['applications', 'common']);
  const account = useAccount();
  const [params] = useSearchParams();
  const mode = params.get('create') === 'live' ? 'live' : 'test';
  const [creating, { open, close }] = useDisclosure(account.mayChange && mode === 'live');
  const read = useData<{ applications: ApplicationView[] }>(`${account.path}/applications`);
  const create = account.mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      {t('list.create')}
    </Button>
  );
  const isEmpty = read.data?.applications.length === 0;
  return (
    <Page
      title={t('common:nav.applications')}
      description={t('list.description')}
      actions={isEmpty || read.data === undefined ? undefined : create}
    >
      <Loaded read={read}>
        {({ applications }) =>
          isEmpty ? <FirstSteps action={create} /> : <ApplicationTable applications={applications} />
        }
      </Loaded>
      <Dialog opened={creating} onClose={close} title={t('list.create')}>
        <CreateApplication mode={mode} />
      </Dialog>
    </Page>
  );
}

function FirstSteps({ action }: { action: React.ReactNode }) {
  const { t } = useTranslation('applications');
  return (
    <EmptyState icon={IconApps} title={t('list.empty.title')} action={action}>
      {action === false ? (
        t('list.empty.viewer')
      ) : (
        <List type="ordered" size="sm" ta="start" spacing={4} component="ol">
          <List.Item>{t('list.empty.step1')}</List.Item>
          <List.Item>{t('list.empty.step2')}</List.Item>
          <List.Item>{t('list.empty.step3')}</List.Item>
        </List>
      )}
    </EmptyState>
  );
}

function ApplicationTable({ applications }: { applications: readonly ApplicationView[] }) {
  const { t } = useTranslation(['applications', 'common']);
  const { whole } = useNumbers();
  return (
    <DataTable
      label={t('list.caption')}
      verticalSpacing="sm"
      highlightOnHover
      rows={applications}
      getRowKey={({ id }) => id}
      columns={[
        {
          title: t('common:words.name'),
          maw: 320,
          render: ({ id, name }) => (
            <Anchor component={Link} to={id} fw={550} className="breaks-words">
              {name}
            </Anchor>
          ),
        },
        { title: t('common:words.mode'), render: ({ mode }) => <ModeBadge mode={mode} /> },
        { title: t('list.columns.keys'), ta: 'end', render: ({ keysInUse }) => whole(keysInUse) },
        {
          title: t('list.columns.limits'),
          visibleFrom: 'sm',
          pl: 'xl',
          render: ({ limits }) => <LimitsText limits={limits} />,
        },
        {
          title: t('common:words.created'),
          visibleFrom: 'sm',
          render: ({ createdAt }) => <Time at={createdAt} />,
        },
      ]}
    />
  );
}

function LimitsText({ limits: { perMinute, perRecipientHour } }: { limits: LimitsView }) {
  const { t } = useTranslation('applications');
  const { whole } = useNumbers();
  const parts = [
    perMinute !== null && t('list.perMinute', { formatted: whole(perMinute) }),
    perRecipientHour !== null && t('list.perRecipientHour', { formatted: whole(perRecipientHour) }),
  ].filter((part) => part !== false);
  return parts.length === 0 ? (
    <Text inherit c="dimmed">
      {t('list.limitsOff')}
    </Text>
  ) : (
    parts.join(' · ')
  );
}
