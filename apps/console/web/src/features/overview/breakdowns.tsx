import { Anchor, SimpleGrid } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { OverviewView, StatisticsView } from '../../../../src/features/overview/view.js';
import { DataTable } from '../../components/dataTable.js';
import { Section } from '../../components/page.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';
import { useShares, type LinkToSends } from './statistics.js';

/** By country, reason, application and language. A table of one row would repeat the totals. */
export function Breakdowns({ overview, linkTo }: { overview: OverviewView; linkTo: LinkToSends }) {
  const { t } = useTranslation(['overview', 'common']);
  const countryName = useCountryName();
  const { applications, locales, countries, failures } = overview;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      {countries.length > 1 && (
        <Breakdown
          title={t('byCountry')}
          description={t('byCountryText')}
          column={t('common:words.country')}
          rows={countries.map((of) => ({ ...of, id: of.country, name: countryName(of.country) }))}
          linkTo={(country) => linkTo({ country })}
        />
      )}
      {failures.length > 0 && <Failures overview={overview} linkTo={linkTo} />}
      {applications.length > 1 && (
        <Breakdown
          title={t('byApplication')}
          column={t('common:words.application')}
          rows={applications.map((of) => ({ ...of, id: of.applicationId }))}
          linkTo={(application) => linkTo({ application })}
        />
      )}
      {locales.length > 1 && (
        <Breakdown
          title={t('byLocale')}
          column={t('common:language')}
          rows={locales.map((of) => ({ ...of, id: of.locale, name: t(`common:languages.${of.locale}`) }))}
          linkTo={(locale) => linkTo({ locale })}
        />
      )}
    </SimpleGrid>
  );
}

/** Statistics by application, country or language, most sends first, each a link to its sends. */
function Breakdown({
  title,
  description,
  column,
  rows,
  linkTo,
}: {
  title: string;
  description?: string;
  /** The heading of the first column. */
  column: string;
  rows: readonly (StatisticsView & { id: string; name: string })[];
  linkTo: (id: string) => string;
}) {
  const { t } = useTranslation(['overview', 'common']);
  const { whole } = useNumbers();
  const { share, seconds } = useShares();
  return (
    <Section title={title} description={description}>
      <DataTable
        label={title}
        horizontalSpacing={4}
        rows={rows}
        getRowKey={({ id }) => id}
        columns={[
          {
            title: column,
            render: ({ id, name }) => (
              <Anchor component={Link} to={linkTo(id)} display="block" maw={{ base: 84, sm: 180 }}>
                {name}
              </Anchor>
            ),
          },
          { title: t('common:nav.sends'), ta: 'right', render: ({ sends }) => whole(sends) },
          {
            title: t('statistics.delivered'),
            ta: 'right',
            render: ({ deliveredShare }) => share(deliveredShare),
          },
          {
            title: t('statistics.verified'),
            ta: 'right',
            render: ({ verifiedShare }) => share(verifiedShare),
          },
          {
            title: t('statistics.undelivered'),
            ta: 'right',
            visibleFrom: 'sm',
            render: ({ undeliveredShare }) => share(undeliveredShare),
          },
          {
            title: t('statistics.median'),
            ta: 'right',
            visibleFrom: 'sm',
            render: ({ deliverySecondsMedian }) => seconds(deliverySecondsMedian),
          },
        ]}
      />
    </Section>
  );
}

/** Why sends failed, the most frequent reason first, each a link to its sends. */
function Failures({
  overview: { failures, totals, failedVerified },
  linkTo,
}: {
  overview: OverviewView;
  linkTo: LinkToSends;
}) {
  const { t } = useTranslation(['overview', 'sends', 'common']);
  const { whole } = useNumbers();
  const { share } = useShares();
  return (
    <Section
      title={t('failures')}
      description={
        failedVerified > 0
          ? t('failedVerified', {
              count: failedVerified,
              formatted: whole(failedVerified),
              share: share(failedVerified / totals.failed),
            })
          : undefined
      }
    >
      <DataTable
        label={t('failures')}
        horizontalSpacing={6}
        rows={failures}
        getRowKey={({ reason }) => reason}
        columns={[
          {
            title: t('common:reason.label'),
            render: ({ reason }) => (
              <Anchor component={Link} to={linkTo({ reason })}>
                {t(`sends:reasons.${reason}`)}
              </Anchor>
            ),
          },
          { title: t('common:nav.sends'), ta: 'right', render: ({ sends }) => whole(sends) },
          { title: t('ofAll'), ta: 'right', render: ({ sends }) => share(sends / totals.sends) },
        ]}
      />
    </Section>
  );
}

/** Where people reported that they did not request a code, which is a sign of abuse of the sign-in form. */
export function Denials({ denials }: { denials: OverviewView['denials'] }) {
  const { t } = useTranslation(['overview', 'common']);
  const { whole } = useNumbers();
  const countryName = useCountryName();
  const title = t('denials.title');
  return (
    <Section title={title} description={t('denials.text')}>
      <DataTable
        label={title}
        horizontalSpacing={6}
        rows={denials}
        getRowKey={({ applicationId, country }) => `${applicationId} ${country}`}
        columns={[
          { title: t('common:words.application'), render: ({ name }) => name },
          { title: t('common:words.country'), render: ({ country }) => countryName(country) },
          { title: t('denials.messages'), ta: 'right', render: (row) => whole(row.denials) },
        ]}
      />
    </Section>
  );
}
