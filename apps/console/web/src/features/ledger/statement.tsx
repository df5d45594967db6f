import { Button, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconPrinter } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import type { StatementView } from '../../../../src/features/ledger/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { DataTable } from '../../components/dataTable.js';
import { Small } from '../../components/facts.js';
import { Download } from '../../components/download.js';
import { Page, Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { useMonths, useNumbers } from '../../hooks/formats.js';
import { GrantTerms, reasonText } from './ledgerTable.js';

/** This month in UTC, `2026-11`. */
const currentMonth = (): string => new Date().toISOString().slice(0, 7);

function monthBeside(month: string, by: 1 | -1): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + by);
  return date.toISOString().slice(0, 7);
}

/** An account's units in one month: opening balance, changes, and closing balance. It prints on one page. */
export function Statement() {
  const { t } = useTranslation(['ledger', 'common']);
  const { path } = useAccount();
  const [search] = useSearchParams();
  const month = search.get('month') ?? currentMonth();
  const read = useData<StatementView>(`${path}/statement?month=${month}`);
  const nameOf = useMonths();
  const [last, next] = [monthBeside(month, -1), monthBeside(month, 1)];
  return (
    <Page
      title={t('statement.title', { month: nameOf(month) })}
      back={{ to: `${path}/ledger`, label: t('common:nav.ledger') }}
      description={t('statement.description')}
      actions={
        <>
          <Button
            component={Link}
            to={`?month=${last}`}
            variant="default"
            leftSection={<IconChevronLeft size={16} aria-hidden />}
          >
            {nameOf(last)}
          </Button>
          {month < currentMonth() && (
            <Button
              component={Link}
              to={`?month=${next}`}
              variant="default"
              rightSection={<IconChevronRight size={16} aria-hidden />}
            >
              {nameOf(next)}
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<IconPrinter size={16} aria-hidden />}
            onClick={() => window.print()}
          >
            {t('statement.print')}
          </Button>
          <Download path={`${path}/statement.csv?month=${month}`} />
        </>
      }
    >
      <Loaded read={read}>{(view) => <Units view={view} />}</Loaded>
    </Page>
  );
}

const LINES = ['opening', 'granted', 'reserved', 'returned', 'reclaimed', 'expired', 'closing'] as const;

function Units({ view }: { view: StatementView }) {
  const { t } = useTranslation(['ledger', 'common']);
  const { whole, signed } = useNumbers();
  const units = (line: (typeof LINES)[number], bucket: 'free_quota' | 'credit'): string => {
    if (line === 'opening' || line === 'closing') return whole(view[line][bucket]);
    return signed(line === 'granted' || line === 'returned' ? view[line][bucket] : -view[line][bucket]);
  };
  return (
    <>
      <Section
        title={view.name}
        description={
          <>
            {t('common:words.asOf')} <Time at={view.at} />
          </>
        }
      >
        <DataTable
          label={view.name}
          rows={LINES}
          getRowKey={(line) => line}
          columns={[
            { title: t('columns.what'), render: (line) => t(`statement.lines.${line}`) },
            { title: t('buckets.free_quota'), ta: 'end', render: (line) => units(line, 'free_quota') },
            { title: t('buckets.credit'), ta: 'end', render: (line) => units(line, 'credit') },
          ]}
        />
      </Section>
      {view.grants.length > 0 && (
        <Section title={t('statement.grants')}>
          <DataTable
            label={t('statement.grants')}
            rows={view.grants}
            getRowKey={({ at, bucket, units: granted }) => `${at} ${bucket} ${granted}`}
            columns={[
              {
                title: t('common:reason.label'),
                render: ({ at, reason, reference, expiresAt }) => (
                  <>
                    <Text inherit className="breaks-words">
                      {reason !== null && reasonText(reason, t)}
                    </Text>
                    <GrantTerms reference={reference} expiresAt={expiresAt} />
                    <Small>
                      <Time at={at} />
                    </Small>
                  </>
                ),
              },
              {
                title: t('columns.bucket'),
                visibleFrom: 'sm',
                render: ({ bucket }) => t(`buckets.${bucket}`),
              },
              { title: t('columns.change'), ta: 'end', render: ({ units: granted }) => signed(granted) },
            ]}
          />
        </Section>
      )}
    </>
  );
}
