import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { StaffAccountsView } from '../../../src/features/accounts/view.js';
import { useAside } from '../api/queries.js';

const CHOICES_MAX = 20;
const DEBOUNCE_MS = 200;

/** Selects one of all accounts by name or id. `value` is its id. */
export function AccountPicker({
  label,
  value,
  onChange,
  error,
  clearable = false,
}: {
  label: string;
  value: string | null;
  onChange: (id: string | null) => void;
  error?: string | null;
  clearable?: boolean;
}) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [text] = useDebouncedValue(typed, DEBOUNCE_MS);
  // A chosen account is looked up by id: the field then holds its name, which other accounts may share.
  const search = value !== null && (typed === '' || typed === chosen) ? value : text;
  const data = useAside<StaffAccountsView>(
    `/staff/accounts?text=${encodeURIComponent(search)}&limit=${CHOICES_MAX}`,
  );
  const choices = (data?.accounts ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Select
      label={label}
      placeholder={t('picker.placeholder')}
      data={choices}
      value={value}
      onChange={(id, option) => {
        setChosen(option === null ? null : option.label);
        onChange(id);
      }}
      searchable
      onSearchChange={setTyped}
      // The server has already filtered the accounts, by more than their labels.
      filter={({ options }) => options}
      nothingFoundMessage={t('picker.nothing')}
      clearable={clearable}
      clearButtonProps={{ 'aria-label': t('picker.clear') }}
      error={error ?? null}
    />
  );
}
