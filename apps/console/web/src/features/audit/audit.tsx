import { Group, Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import audit from '../../locales/en/audit.json';
import { AccountPicker } from '../../components/accountPicker.js';
import { AuditTable } from './auditTable.js';
import { Page } from '../../components/page.js';

const AREAS = Object.keys(audit.areas) as (keyof typeof audit.areas)[];

/** The audit log, with its filters in the URL. */
export function Audit() {
  const { t } = useTranslation('audit');
  const [search, setSearch] = useSearchParams();
  const query = Object.fromEntries([...search].filter(([name]) => name === 'account' || name === 'area'));

  const filter = (name: 'account' | 'area', value: string | null): void =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return (
    <Page title={t('title')} description={t('description')}>
      <Group align="flex-end">
        <AccountPicker
          label={t('filters.account')}
          value={query['account'] ?? null}
          onChange={(id) => filter('account', id)}
          clearable
        />
        <Select
          label={t('filters.area')}
          placeholder={t('filters.all')}
          data={AREAS.map((area) => ({ value: area, label: t(`areas.${area}`) }))}
          value={query['area'] ?? null}
          onChange={(area) => filter('area', area)}
          clearable
        />
      </Group>
      <AuditTable query={query} withAccount empty={t('empty')} />
    </Page>
  );
}
