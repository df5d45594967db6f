import { Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { ModeBadge } from '../../components/badges.js';
import { useNumbers } from '../../hooks/formats.js';
import { Section } from '../../components/page.js';

interface Props {
  account: StaffAccountDetailsView;
}

/** The members of the account, by name. */
export function MembersSection({ account: { members } }: Props) {
  const { t } = useTranslation(['accounts', 'team']);
  return (
    <Section title={t('members.title')}>
      {members.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('members.none')}
        </Text>
      )}
      <Stack gap={4}>
        {members.map(({ id, name, role }) => (
          <Group key={id} justify="space-between">
            <Text size="sm">{name}</Text>
            <Text size="sm" c="dimmed">
              {t(`team:roles.${role}`)}
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

/** The applications of the account with their limits. */
export function ApplicationsSection({ account: { applications } }: Props) {
  const { t } = useTranslation('accounts');
  const { whole } = useNumbers();
  const limit = (value: number | null): string => (value === null ? t('applications.off') : whole(value));
  return (
    <Section title={t('applications.title')}>
      {applications.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('applications.none')}
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={300}>
          <Table verticalSpacing="xs" aria-label={t('applications.title')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('applications.columns.name')}</Table.Th>
                <Table.Th>{t('applications.columns.mode')}</Table.Th>
                <Table.Th ta="right">{t('applications.columns.keys')}</Table.Th>
                <Table.Th ta="right" visibleFrom="sm">
                  {t('applications.columns.perMinute')}
                </Table.Th>
                <Table.Th ta="right" visibleFrom="sm">
                  {t('applications.columns.perRecipientHour')}
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {applications.map(({ id, name, mode, keysInUse, limits }) => (
                <Table.Tr key={id}>
                  <Table.Td>{name}</Table.Td>
                  <Table.Td>
                    <ModeBadge mode={mode} />
                  </Table.Td>
                  <Table.Td ta="right">{whole(keysInUse)}</Table.Td>
                  <Table.Td ta="right" visibleFrom="sm">
                    {limit(limits.perMinute)}
                  </Table.Td>
                  <Table.Td ta="right" visibleFrom="sm">
                    {limit(limits.perRecipientHour)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  );
}
