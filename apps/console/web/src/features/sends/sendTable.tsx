import { Anchor, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import type { SendView } from '../../../../src/features/sends/view.js';
import { useAccount } from '../../app/session.js';
import { ModeBadge, StatusBadge, VerificationBadge } from '../../components/badges.js';
import { DataTable } from '../../components/dataTable.js';
import { useCountryName } from '../../hooks/countries.js';
import { Time } from '../../components/times.js';

/** Sends, newest first; each opens its page. On a phone both states share a column. */
export function SendTable({ sends }: { sends: readonly SendView[] }) {
  const { t } = useTranslation('sends');
  const { path } = useAccount();
  const navigate = useNavigate();
  const countryName = useCountryName();
  const pageOf = ({ id }: SendView): string => `${path}/sends/${id}`;
  return (
    <DataTable
      label={t('caption')}
      highlightOnHover
      rows={sends}
      keyOf={({ id }) => id}
      // Keyboards and screen readers use the link; a pointer may click anywhere in the row.
      propsOf={(send) => ({ onClick: () => void navigate(pageOf(send)), style: { cursor: 'pointer' } })}
      columns={[
        { title: t('columns.time'), visibleFrom: 'sm', render: ({ createdAt }) => <Time at={createdAt} /> },
        {
          title: t('columns.recipient'),
          render: (send) => (
            <Stack gap={2}>
              <Anchor
                component={Link}
                to={pageOf(send)}
                size="sm"
                fw={550}
                className="tabular"
                onClick={(event) => event.stopPropagation()}
                style={{ whiteSpace: 'nowrap' }}
              >
                {send.recipient}
              </Anchor>
              <Text size="xs" c="dimmed" hiddenFrom="sm" component="div">
                <Time at={send.createdAt} />
              </Text>
            </Stack>
          ),
        },
        {
          title: t('columns.status'),
          render: ({ status, verification }) => (
            <Stack gap={4} align="flex-start">
              <StatusBadge status={status} />
              <Text hiddenFrom="sm" component="div">
                <VerificationBadge verification={verification} />
              </Text>
            </Stack>
          ),
        },
        {
          title: t('columns.verification'),
          visibleFrom: 'sm',
          render: ({ verification }) => <VerificationBadge verification={verification} />,
        },
        {
          title: t('columns.application'),
          visibleFrom: 'sm',
          render: ({ application }) => (
            <Text size="sm" truncate maw={200}>
              {application.name}
            </Text>
          ),
        },
        { title: t('columns.mode'), visibleFrom: 'md', render: ({ mode }) => <ModeBadge mode={mode} /> },
        {
          title: t('columns.country'),
          visibleFrom: 'lg',
          render: ({ country }) => (country === null ? '–' : countryName(country)),
        },
      ]}
    />
  );
}
