import { Anchor, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import type { SendView } from '../../../../src/features/sends/view.js';
import { useAccount } from '../../app/session.js';
import { ModeBadge, StatusBadge, VerificationBadge } from '../../components/badges.js';
import { useCountryName } from '../../hooks/countries.js';
import { Time } from '../../components/times.js';

/** Sends, newest first; each opens its page. On a phone both states share a column. */
export function SendTable({ sends }: { sends: readonly SendView[] }) {
  const { t } = useTranslation('sends');
  return (
    <Table.ScrollContainer
      minWidth={320}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': t('caption') } }}
    >
      <Table highlightOnHover verticalSpacing="xs">
        <Table.Caption>
          <VisuallyHidden>{t('caption')}</VisuallyHidden>
        </Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th visibleFrom="sm">{t('columns.time')}</Table.Th>
            <Table.Th>{t('columns.recipient')}</Table.Th>
            <Table.Th>{t('columns.status')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('columns.verification')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('columns.application')}</Table.Th>
            <Table.Th visibleFrom="md">{t('columns.mode')}</Table.Th>
            <Table.Th visibleFrom="lg">{t('columns.country')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sends.map((send) => (
            <Row key={send.id} send={send} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Row({ send }: { send: SendView }) {
  const account = useAccount();
  const navigate = useNavigate();
  const countryName = useCountryName();
  const to = `${account.path}/sends/${send.id}`;
  return (
    // Keyboards and screen readers use the link; a pointer may click anywhere in the row.
    <Table.Tr onClick={() => void navigate(to)} style={{ cursor: 'pointer' }}>
      <Table.Td visibleFrom="sm">
        <Time at={send.createdAt} />
      </Table.Td>
      <Table.Td>
        <Stack gap={2}>
          <Anchor
            component={Link}
            to={to}
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
      </Table.Td>
      <Table.Td>
        <Stack gap={4} align="flex-start">
          <StatusBadge status={send.status} />
          <Text hiddenFrom="sm" component="div">
            <VerificationBadge verification={send.verification} />
          </Text>
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <VerificationBadge verification={send.verification} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="sm" truncate maw={200}>
          {send.application.name}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <ModeBadge mode={send.mode} />
      </Table.Td>
      <Table.Td visibleFrom="lg">{send.country === null ? '–' : countryName(send.country)}</Table.Td>
    </Table.Tr>
  );
}
