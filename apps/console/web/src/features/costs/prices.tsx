import { Button, NumberInput, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CostsView, PriceView } from '../../../../src/features/costs/view.js';
import type { CountriesView } from '../../../../src/features/holds/view.js';
import { useData } from '../../api/queries.js';
import { useMayOperate } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { DataTable } from '../../components/dataTable.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { NO_COUNTRY, useCountryChoices, useCountryName } from '../../hooks/countries.js';
import { useMonths } from '../../hooks/formats.js';
import { useRequired } from '../../hooks/forms.js';
import { useStaffChange } from '../../hooks/staffChange.js';
import { useMoney } from './money.js';

/** What Meta charges for a message to each country, as operators say it. */
export function Prices() {
  const { t } = useTranslation('costs');
  const mayOperate = useMayOperate();
  const [opened, { open, close }] = useDisclosure();
  const read = useData<CostsView>('/staff/costs');
  return (
    <Section
      title={t('prices.title')}
      description={t('prices.description')}
      actions={
        mayOperate && (
          <Button variant="default" onClick={open}>
            {t('prices.set')}
          </Button>
        )
      }
    >
      <Loaded read={read}>
        {({ prices, currency }) => (
          <>
            {prices.length > 0 && <PriceTable prices={prices} currency={currency} />}
            <Dialog opened={opened} onClose={close} title={t('prices.set')}>
              <PriceForm currency={currency} onClose={close} />
            </Dialog>
          </>
        )}
      </Loaded>
    </Section>
  );
}

function PriceTable({ prices, currency }: { prices: readonly PriceView[]; currency: string | null }) {
  const { t } = useTranslation('costs');
  const mayOperate = useMayOperate();
  const { price } = useMoney(currency);
  const month = useMonths();
  const countryName = useCountryName();
  const [removed, setRemoved] = useState<PriceView | null>(null);
  return (
    <>
      <DataTable
        label={t('prices.title')}
        rows={prices}
        keyOf={({ country, since }) => `${country} ${since}`}
        columns={[
          { title: t('columns.country'), render: ({ country }) => countryName(country) },
          { title: t('prices.since'), render: ({ since }) => month(since) },
          { title: t('columns.price'), ta: 'right', render: (one) => price(one.price) },
          mayOperate && {
            title: t('prices.remove'),
            isTitleHidden: true,
            ta: 'right',
            render: (one) => (
              <Button
                variant="default"
                size="xs"
                aria-label={t('prices.removeOf', {
                  country: countryName(one.country),
                  month: month(one.since),
                })}
                onClick={() => setRemoved(one)}
              >
                {t('prices.remove')}
              </Button>
            ),
          },
        ]}
      />
      {removed !== null && (
        <ConfirmChange
          opened
          onClose={() => setRemoved(null)}
          title={t('prices.removeOf', { country: countryName(removed.country), month: month(removed.since) })}
          action={t('prices.remove')}
          change={{ method: 'PUT', path: '/staff/prices', body: { ...removed, price: null, currency } }}
          stale={['/staff/costs', '/staff/audit']}
          done={t('prices.removed')}
        >
          {t('prices.removeText')}
        </ConfirmChange>
      )}
    </>
  );
}

const thisMonth = (): string => new Date().toISOString().slice(0, 7);

function PriceForm({ currency, onClose }: { currency: string | null; onClose: () => void }) {
  const { t, i18n } = useTranslation('costs');
  const required = useRequired();
  const { data } = useData<CountriesView>('/staff/countries');
  const change = useStaffChange(['/staff/costs'], onClose);
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
      price: (typed) => (typeof typed === 'number' ? null : t('prices.number')),
      since: (typed) => (/^20\d\d-\d\d$/.test(typed) ? null : t('prices.month')),
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((body) =>
        change.send({ method: 'PUT', path: '/staff/prices', body }, t('prices.done')),
      )}
      action={t('prices.set')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      <Select
        label={t('columns.country')}
        data={useCountryChoices([...(data?.countries ?? []), NO_COUNTRY])}
        searchable
        required
        data-autofocus
        {...form.getInputProps('country')}
      />
      <NumberInput
        label={t('columns.price')}
        description={t('prices.priceText')}
        required
        min={0}
        decimalScale={6}
        decimalSeparator={i18n.language === 'en' ? '.' : ','}
        hideControls
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
