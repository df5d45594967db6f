import { Button, Select, SimpleGrid, Text } from '@mantine/core';
import { IconReceipt } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { BalanceView, LedgerView } from '../../../../src/features/ledger/view.js';
import { useData, usePages } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Statistic } from '../../components/facts.js';
import { EmptyState, Failure, Loaded, LoadMore } from '../../components/states.js';
import { useNumbers } from '../../hooks/formats.js';
import { Download } from '../../components/download.js';
import { Time } from '../../components/times.js';
import { Page } from '../../components/page.js';
import { useAccountBack } from '../accounts/accountBack.js';
import { BalanceAlert } from './balanceAlert.js';
import { LedgerTable } from './ledgerTable.js';

const KINDS = ['granted', 'reserved', 'returned', 'reclaimed', 'expired'] as const;

export function Ledger() {
  const { t } = useTranslation(['ledger', 'common']);
  const { path } = useAccount();
  const [kind, setKind] = useState<string | null>(null);
  const query = kind === null ? '' : `?kind=${kind}`;
  const ledger = usePages<LedgerView>(`${path}/ledger${query}`);
  return (
    <Page
      title={t('common:nav.ledger')}
      {...useAccountBack()}
      description={t('description')}
      actions={
        <>
          <Button component={Link} to={`${path}/statement`} variant="default">
            {t('statement.link')}
          </Button>
          <Download path={`${path}/ledger.csv${query}`} />
        </>
      }
    >
      <Balance />
      <BalanceAlert />
      <Select
        label={t('filter')}
        placeholder={t('all')}
        data={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        value={kind}
        onChange={setKind}
        clearable
        maw={240}
      />
      <Loaded read={ledger}>
        {(pages) => {
          const entries = pages.flatMap((page) => page.entries);
          return entries.length === 0 ? (
            <NoEntries isAll={kind === null} isEnd={!ledger.hasNextPage} />
          ) : (
            <LedgerTable entries={entries} />
          );
        }}
      </Loaded>
      <LoadMore list={ledger} />
    </Page>
  );
}

function Balance() {
  const { t } = useTranslation('ledger');
  const { path } = useAccount();
  const { whole } = useNumbers();
  const { data, error, refetch } = useData<BalanceView>(`${path}/balance`);
  if (error !== null && data === undefined) return <Failure problem={error} onRetry={() => void refetch()} />;
  return (
    <>
      <SimpleGrid cols={2} maw={560}>
        {(['freeQuota', 'credits'] as const).map((bucket) => (
          <Statistic key={bucket} label={t(bucket === 'credits' ? 'buckets.credit' : 'buckets.free_quota')}>
            {data === undefined ? '–' : whole(data[bucket])}{' '}
            <Text span c="dimmed">
              {data !== undefined && t('units', { count: data[bucket] })}
            </Text>
          </Statistic>
        ))}
      </SimpleGrid>
      {data?.expiring.map(({ at, units }) => (
        <Text key={at} component="div">
          {t('expiring', { count: units, number: whole(units) })} <Time at={at} />
        </Text>
      ))}
    </>
  );
}

function NoEntries({ isAll, isEnd }: { isAll: boolean; isEnd: boolean }) {
  const { t } = useTranslation('ledger');
  if (isAll)
    return (
      <EmptyState icon={IconReceipt} title={t('empty.title')}>
        {t('empty.text')}
      </EmptyState>
    );
  return (
    <Text ta="center" py="lg">
      {t(isEnd ? 'empty.filtered' : 'searchOn')}
    </Text>
  );
}
