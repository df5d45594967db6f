import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { ModeBadge } from '../../components/badges.js';
import { DataTable } from '../../components/dataTable.js';
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
    <Section id="limits" title={t('applications.title')}>
      {applications.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('applications.none')}
        </Text>
      ) : (
        <DataTable
          label={t('applications.title')}
          minWidth={300}
          rows={applications}
          keyOf={({ id }) => id}
          columns={[
            { title: t('applications.columns.name'), render: ({ name }) => name },
            { title: t('applications.columns.mode'), render: ({ mode }) => <ModeBadge mode={mode} /> },
            {
              title: t('applications.columns.keys'),
              ta: 'right',
              render: ({ keysInUse }) => whole(keysInUse),
            },
            ...(['perMinute', 'perRecipientHour'] as const).map((name) => ({
              title: t(`applications.columns.${name}`),
              ta: 'right' as const,
              visibleFrom: 'sm' as const,
              render: ({ limits }: (typeof applications)[number]) => limit(limits[name]),
            })),
          ]}
        />
      )}
    </Section>
  );
}
