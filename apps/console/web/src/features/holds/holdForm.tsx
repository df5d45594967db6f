import { Select, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { CountriesView } from '../../../../src/features/holds/view.js';
import { useAside } from '../../api/queries.js';
import { AccountPicker } from '../../components/accountPicker.js';
import { ReasonInput, useReasonRule } from '../../components/changeDialog.js';
import { DialogForm, useClose } from '../../components/dialog.js';
import { post, useChange } from '../../hooks/change.js';
import { NO_COUNTRY, useCountryChoices } from '../../hooks/countries.js';
import { HELD_PATHS } from './holdButtons.js';

/** Puts a country or an account on hold. */
export function HoldForm({ kind }: { kind: 'country' | 'account' }) {
  const { t } = useTranslation(['holds', 'common']);
  const data = useAside<CountriesView>('/staff/countries');
  const choices = useCountryChoices([...(data?.countries ?? []), NO_COUNTRY]);
  const form = useForm<{ target: string | null; reason: string }>({
    initialValues: { target: null, reason: '' },
    validate: {
      target: (target) => (target === null ? t(`target.${kind}.missing`) : null),
      reason: useReasonRule(),
    },
  });
  const change = useChange(HELD_PATHS, { done: t('set'), onDone: useClose() });
  const field = form.getInputProps('target');
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ target, reason }) =>
        change.mutate(post('/staff/holds', { kind, target, reason: reason.trim() })),
      )}
      action={t(`target.${kind}.button`)}
      color="red.9"
      change={change}
    >
      <Text>{t(`target.${kind}.what`)}</Text>
      {kind === 'account' ? (
        <AccountPicker label={t('common:words.account')} value={form.values.target} {...field} />
      ) : (
        <Select
          label={t('common:words.country')}
          data={choices}
          searchable
          nothingFoundMessage={t('common:picker.nothing')}
          {...field}
        />
      )}
      <ReasonInput {...form.getInputProps('reason')} />
    </DialogForm>
  );
}
