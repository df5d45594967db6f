import { Select } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CountriesView } from '../../../../src/features/holds/view.js';
import { useData } from '../../api/queries.js';
import { AccountPicker } from '../../components/accountPicker.js';
import { NO_COUNTRY, useCountryChoices } from '../../hooks/countries.js';
import { ReasonDialog } from '../../components/reasonDialog.js';
import { useHoldChange } from './holdChange.js';

/** The dialog that puts a country or an account on hold; closed while `kind` is null. */
export function HoldDialog({ kind, onClose }: { kind: 'country' | 'account' | null; onClose: () => void }) {
  const { t } = useTranslation('holds');
  const [target, setTarget] = useState<string | null>(null);
  const [isSubmitted, setIsSubmitted] = useState(false);
  const clear = (): void => {
    setTarget(null);
    setIsSubmitted(false);
    onClose();
  };
  const holds = useHoldChange(clear);
  const close = (): void => {
    holds.reset();
    clear();
  };
  const confirm = (reason: string): void => {
    setIsSubmitted(true);
    if (kind !== null && target !== null) holds.set({ kind, target }, reason);
  };
  const shown = kind ?? 'country';
  const missing = isSubmitted && target === null ? t(`target.${shown}.missing`) : null;
  const field = { value: target, onChange: setTarget, error: missing, label: t(`target.${shown}.label`) };
  return (
    <ReasonDialog
      opened={kind !== null}
      onClose={close}
      title={t(`target.${shown}.set`)}
      action={t(`target.${shown}.button`)}
      pending={holds.pending}
      problem={holds.problem}
      onConfirm={confirm}
      before={shown === 'country' ? <CountryField {...field} /> : <AccountPicker {...field} />}
    >
      {t(`target.${shown}.what`)}
    </ReasonDialog>
  );
}

function CountryField({
  error,
  ...field
}: {
  label: string;
  value: string | null;
  onChange: (code: string | null) => void;
  error: string | null;
}) {
  const { t } = useTranslation(['holds', 'common']);
  const { data } = useData<CountriesView>('/staff/countries');
  const choices = useCountryChoices([...(data?.countries ?? []), NO_COUNTRY]);
  return (
    <Select
      {...field}
      data={choices}
      error={error}
      searchable
      nothingFoundMessage={t('common:picker.nothing')}
    />
  );
}
