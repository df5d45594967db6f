import { Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DenialView } from '../../../../src/features/overview/view.js';
import { Section } from '../../components/page.js';
import { ScrollingTable } from '../../components/scrollingTable.js';
import { NO_COUNTRY, useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';

/** Where people say that they did not request a code: a sign of somebody who misuses the sign-in form. */
export function Denials({ denials }: { denials: readonly DenialView[] }) {
  const { t } = useTranslation('overview');
  const { whole } = useNumbers();
  const countryName = useCountryName();
  const title = t('denials.title');
  return (
    <Section title={title} description={t('denials.text')}>
      <ScrollingTable label={title} minWidth={320} horizontalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('columns.application')}</Table.Th>
            <Table.Th>{t('denials.country')}</Table.Th>
            <Table.Th ta="right">{t('denials.messages')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {denials.map(({ applicationId, name, country, denials: count }) => (
            <Table.Tr key={`${applicationId} ${country}`}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>{countryName(country ?? NO_COUNTRY)}</Table.Td>
              <Table.Td ta="right">{whole(count)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollingTable>
    </Section>
  );
}
