import { Anchor, Button, List, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconApps, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { ApplicationView, LimitsView } from '../../../../src/features/applications/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ModeBadge } from '../../components/badges.js';
import { useNumbers } from '../../hooks/formats.js';
import { Page } from '../../components/page.js';
import { EmptyState, Failure, Loading } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { CreateApplication } from './applicationForms.js';

/** The applications of an account. */
export function Applications() {
  const { t } = useTranslation(['applications', 'common']);
  const account = useAccount();
  const [creating, { open, close }] = useDisclosure();
  const { data, error, refetch } = useData<{ applications: ApplicationView[] }>(
    `${account.path}/applications`,
  );
  const create = account.mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      {t('list.create')}
    </Button>
  );
  const isEmpty = data?.applications.length === 0;
  return (
    <Page
      title={t('common:nav.applications')}
      description={t('list.description')}
      actions={isEmpty || data === undefined ? undefined : create}
    >
      {data === undefined &&
        (error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />)}
      {isEmpty && <FirstSteps action={create} />}
      {data !== undefined && !isEmpty && <ApplicationTable applications={data.applications} />}
      <CreateApplication opened={creating} onClose={close} />
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
  const { t } = useTranslation('applications');
  const { whole } = useNumbers();
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table verticalSpacing="sm" highlightOnHover aria-label={t('list.caption')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('list.columns.name')}</Table.Th>
            <Table.Th>{t('list.columns.mode')}</Table.Th>
            <Table.Th ta="end">{t('list.columns.keys')}</Table.Th>
            <Table.Th visibleFrom="sm" pl="xl">
              {t('list.columns.limits')}
            </Table.Th>
            <Table.Th visibleFrom="sm">{t('list.columns.created')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {applications.map(({ id, name, mode, keysInUse, limits, createdAt }) => (
            <Table.Tr key={id}>
              <Table.Td maw={320}>
                <Anchor component={Link} to={id} size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
                  {name}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <ModeBadge mode={mode} />
              </Table.Td>
              <Table.Td ta="end">{whole(keysInUse)}</Table.Td>
              <Table.Td visibleFrom="sm" pl="xl">
                <LimitsText limits={limits} />
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Time at={createdAt} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
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
