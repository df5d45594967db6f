import { Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import audit from '../../locales/en/audit.json';
import { useAccount } from '../../app/session.js';
import { AccountPicker } from '../../components/accountPicker.js';
import { DayField } from '../../components/dayField.js';
import { Download } from '../../components/download.js';
import { Page } from '../../components/page.js';
import { useUrlFilters } from '../../hooks/urlFilters.js';
import { midnight } from '../sends/sendQuery.js';
import { AuditTable } from './auditTable.js';

type Area = keyof typeof audit.areas;
const AREAS = Object.keys(audit.areas) as Area[];
const ACCOUNT_AREAS = [
  'account',
  'application',
  'key',
  'member',
  'sender',
  'webhook',
  'recipient',
  'hold',
  'send',
] as const;

/** The whole audit log, for staff. */
export function Audit() {
  const { t } = useTranslation('audit');
  return <AuditPage path="/staff/audit" description={t('description')} areas={AREAS} isForStaff />;
}

/** The audit log of an account, for its admins. */
export function AccountAudit() {
  const { t } = useTranslation('audit');
  const { path } = useAccount();
  return <AuditPage path={`${path}/audit`} description={t('accountDescription')} areas={ACCOUNT_AREAS} />;
}

const TEXTS = ['person', 'object'] as const;
const DAYS = ['from', 'to'] as const;

/** The audit log, with its filters in the URL. */
function AuditPage({
  path,
  description,
  areas,
  isForStaff = false,
}: {
  path: string;
  description: string;
  areas: readonly Area[];
  isForStaff?: boolean;
}) {
  const { t } = useTranslation(['audit', 'common']);
  const { filters, set } = useUrlFilters();
  const query = serverQuery(filters);
  return (
    <Page
      title={t('common:nav.audit')}
      description={description}
      actions={<Download path={`${path}.csv?${query}`} />}
    >
      <Group align="flex-end" gap="xs" role="group" aria-label={t('common:filters')}>
        {isForStaff && (
          <AccountPicker
            label={t('common:words.account')}
            value={filters.get('account')}
            onChange={(id) => set({ account: id })}
            clearable
          />
        )}
        <Select
          label={t('filters.area')}
          placeholder={t('filters.all')}
          data={areas.map((area) => ({ value: area, label: t(`areas.${area}`) }))}
          value={filters.get('area')}
          onChange={(area) => set({ area })}
          clearable
        />
        {TEXTS.map((name) => (
          <TextFilter
            key={name}
            label={t(`filters.${name}`)}
            placeholder={t(`filters.${name}Text`)}
            value={filters.get(name) ?? ''}
            onChange={(text) => set({ [name]: text || null })}
          />
        ))}
        {DAYS.map((name) => (
          <DayField
            key={name}
            label={t(`common:words.${name}`)}
            value={filters.get(name)}
            onChange={(day) => set({ [name]: day })}
          />
        ))}
      </Group>
      <AuditTable
        path={`${path}?${query}`}
        isForStaff={isForStaff}
        withAccount={isForStaff}
        empty={t('empty')}
      />
    </Page>
  );
}

/** The query of the list on the server. Days begin at midnight in the user's time zone. */
function serverQuery(filters: URLSearchParams): string {
  const params = new URLSearchParams();
  for (const name of ['account', 'area', ...TEXTS]) {
    const value = filters.get(name)?.trim();
    if (value) params.set(name, value);
  }
  DAYS.forEach((name, daysLater) => {
    const time = midnight(filters.get(name), daysLater);
    if (time !== null) params.set(name, time.toISOString());
  });
  return params.toString();
}

const TYPING_MS = 300;

/** A text filter that applies when the user stops typing. */
function TextFilter({
  value,
  onChange,
  ...texts
}: {
  label: string;
  placeholder: string;
  value: string;
  onChange: (text: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const change = useDebouncedCallback(onChange, TYPING_MS);
  return (
    <TextInput
      {...texts}
      value={typed}
      maxLength={254}
      autoComplete="off"
      spellCheck={false}
      w={{ base: '100%', sm: 235 }}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        change(currentTarget.value);
      }}
    />
  );
}
