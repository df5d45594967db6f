import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { StaffAccountsView } from '../../../src/features/accounts/view.js';
import { useData } from '../api/queries.js';

const SHOWN = 20;
const DEBOUNCE_MS = 200;

/** Chooses an account by its name or id, out of all. `value` is its id. */
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
  // What stands in the field once an account was chosen is its name: it is looked up by its id, which no other has.
  const wanted = value !== null && (typed === '' || typed === chosen) ? value : text;
  const { data } = useData<StaffAccountsView>(
    `/operations/accounts?text=${encodeURIComponent(wanted)}&limit=${SHOWN}`,
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
      // The server has searched already, and by more than the label.
      filter={({ options }) => options}
      nothingFoundMessage={t('picker.nothing')}
      clearable={clearable}
      clearButtonProps={{ 'aria-label': t('picker.clear') }}
      error={error ?? null}
    />
  );
}
