import { useTranslation } from 'react-i18next';
import type { DenialView } from '../../../../src/features/overview/view.js';
import { DataTable } from '../../components/dataTable.js';
import { Section } from '../../components/page.js';
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
      <DataTable
        label={title}
        horizontalSpacing={6}
        rows={denials}
        keyOf={({ applicationId, country }) => `${applicationId} ${country}`}
        columns={[
          { title: t('columns.application'), render: ({ name }) => name },
          { title: t('denials.country'), render: ({ country }) => countryName(country ?? NO_COUNTRY) },
          { title: t('denials.messages'), ta: 'right', render: (row) => whole(row.denials) },
        ]}
      />
    </Section>
  );
}
