import { Group, Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import audit from '../../locales/en/audit.json';
import { AccountPicker } from '../../components/accountPicker.js';
import { AuditTable } from './auditTable.js';
import { Page } from '../../components/page.js';
import { useUrlFilters } from '../../hooks/urlFilters.js';

const AREAS = Object.keys(audit.areas) as (keyof typeof audit.areas)[];

/** The audit log, with its filters in the URL. */
export function Audit() {
  const { t } = useTranslation('audit');
  const { filters, set } = useUrlFilters();
  const query = Object.fromEntries([...filters].filter(([name]) => name === 'account' || name === 'area'));
  return (
    <Page title={t('title')} description={t('description')}>
      <Group align="flex-end">
        <AccountPicker
          label={t('filters.account')}
          value={query['account'] ?? null}
          onChange={(id) => set({ account: id })}
          clearable
        />
        <Select
          label={t('filters.area')}
          placeholder={t('filters.all')}
          data={AREAS.map((area) => ({ value: area, label: t(`areas.${area}`) }))}
          value={query['area'] ?? null}
          onChange={(area) => set({ area })}
          clearable
        />
      </Group>
      <AuditTable query={query} withAccount empty={t('empty')} />
    </Page>
  );
}
