import { Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { CostsView, PriceView } from '../../../../src/features/costs/view.js';
import type { CountriesView } from '../../../../src/features/holds/view.js';
import { useAside, useData } from '../../api/queries.js';
import { useMayOperate } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { DataTable } from '../../components/dataTable.js';
import { DialogButton, DialogForm, useClose } from '../../components/dialog.js';
import { NumberField } from '../../components/numberField.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { put, useChange } from '../../hooks/change.js';
import { NO_COUNTRY, useCountryChoices, useCountryName } from '../../hooks/countries.js';
import { useMonths } from '../../hooks/formats.js';
import { useNumberRule, useRequired } from '../../hooks/forms.js';
import { useMoney } from './money.js';

/** What Meta charges for a message to each country, as operators have entered it. */
export function Prices() {
  const { t } = useTranslation('costs');
  const mayOperate = useMayOperate();
  const read = useData<CostsView>('/staff/costs');
  return (
    <Section
      title={t('prices.title')}
      description={t('prices.description')}
      actions={
        mayOperate &&
        read.data && (
          <DialogButton label={t('prices.set')} title={t('prices.set')} size="sm">
            <PriceForm currency={read.data.currency} />
          </DialogButton>
        )
      }
    >
      <Loaded read={read}>
        {({ prices, currency }) => prices.length > 0 && <PriceTable prices={prices} currency={currency} />}
      </Loaded>
    </Section>
  );
}

function PriceTable({ prices, currency }: { prices: readonly PriceView[]; currency: string | null }) {
  const { t } = useTranslation(['costs', 'common']);
  const mayOperate = useMayOperate();
  const { price } = useMoney(currency);
  const month = useMonths();
  const countryName = useCountryName();
  const removal = ({ country, since }: PriceView): string =>
    t('prices.removeOf', { country: countryName(country), month: month(since) });
  return (
    <DataTable
      label={t('prices.title')}
      rows={prices}
      getRowKey={({ country, since }) => `${country} ${since}`}
      columns={[
        { title: t('common:words.country'), render: ({ country }) => countryName(country) },
        { title: t('prices.since'), render: ({ since }) => month(since) },
        { title: t('columns.price'), ta: 'right', render: (one) => price(one.price) },
        mayOperate && {
          title: t('common:words.remove'),
          isTitleHidden: true,
          ta: 'right',
          render: (one) => (
            <ChangeButton
              label={removal(one)}
              title={removal(one)}
              action={t('common:words.remove')}
              change={put('/staff/prices', { ...one, price: null, currency })}
              stale={['/staff/costs', '/staff/audit']}
              done={t('prices.removed')}
            >
              {t('prices.removeText')}
            </ChangeButton>
          ),
        },
      ]}
    />
  );
}

/** The bounds of the server. */
const PRICE_BOUNDS = { min: 0, max: 1_000, decimals: 6 };

const thisMonth = (): string => new Date().toISOString().slice(0, 7);

function PriceForm({ currency }: { currency: string | null }) {
  const { t, i18n } = useTranslation(['costs', 'common']);
  const required = useRequired();
  const data = useAside<CountriesView>('/staff/countries');
  const change = useChange(['/staff/costs', '/staff/audit'], { done: t('prices.done'), onDone: useClose() });
  const names = new Intl.DisplayNames(i18n.language, { type: 'currency' });
  const form = useForm<{ country: string; price: number | string; currency: string; since: string }>({
    initialValues: {
      country: '',
      price: '',
      currency: currency ?? (i18n.language === 'pt-BR' ? 'BRL' : 'USD'),
      since: thisMonth(),
    },
    validate: {
      country: required,
      price: useNumberRule()(PRICE_BOUNDS),
      since: (typed) => (/^20\d\d-(0[1-9]|1[0-2])$/.test(typed) ? null : t('prices.month')),
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((body) => change.mutate(put('/staff/prices', body)))}
      action={t('prices.set')}
      change={change}
    >
      <Select
        label={t('common:words.country')}
        data={useCountryChoices([...(data?.countries ?? []), NO_COUNTRY])}
        searchable
        required
        data-autofocus
        {...form.getInputProps('country')}
      />
      <NumberField
        label={t('columns.price')}
        description={t('prices.priceText')}
        required
        {...PRICE_BOUNDS}
        {...form.getInputProps('price')}
      />
      <Select
        label={t('prices.currency')}
        description={t('prices.currencyText')}
        data={Intl.supportedValuesOf('currency').map((code) => ({
          value: code,
          label: `${names.of(code)} (${code})`,
        }))}
        searchable
        allowDeselect={false}
        {...form.getInputProps('currency')}
      />
      <TextInput
        type="month"
        label={t('prices.since')}
        description={t('prices.sinceText')}
        required
        {...form.getInputProps('since')}
      />
    </DialogForm>
  );
}
