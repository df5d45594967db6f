import { Button, Group, SegmentedControl, Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { ProtectionView } from '../../../../src/features/protection/view.js';
import { NO_COUNTRY, useCountryChoices, useCountryName } from '../../hooks/countries.js';
import { useAside } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { DayField } from '../../components/dayField.js';
import { MODES, TIMES, type Mode, type useSendQuery } from './sendQuery.js';

const STATUSES = ['queued', 'sending', 'sent', 'delivered', 'read', 'arrived', 'failed'] as const;
const REASONS = ['rejected_by_provider', 'attempts_exhausted', 'expired_before_delivery'] as const;
const VERIFICATIONS = ['pending', 'verified', 'locked', 'expired'] as const;
const LOCALES = ['pt-BR', 'en'] as const;

/** The filters of the list of sends. The mode is separate if the account has applications of both modes. */
export function SendFilters({
  applications,
  mode,
  query,
  isFiltered,
  set,
  clear,
}: ReturnType<typeof useSendQuery> & { applications: readonly ApplicationView[]; mode: Mode }) {
  const { t } = useTranslation(['sends', 'common', 'refusedRequests']);
  const countryName = useCountryName();
  const { path } = useAccount();
  const protection = useAside<ProtectionView>(`${path}/protection`);
  // The application in the URL, until the applications are known or if they cannot be read.
  const countries = useCountryChoices(
    protection?.countryChoices ??
      [query.country].filter((code) => code !== null && code !== NO_COUNTRY).map(String),
  );
  const own = applications.filter((application) => application.mode === mode);
  const choices = [
    ['status', t('columns.status'), STATUSES.map((value) => ({ value, label: t(`status.${value}`) }))],
    ['reason', t('common:reason.label'), REASONS.map((value) => ({ value, label: t(`reasons.${value}`) }))],
    [
      'verification',
      t('columns.verification'),
      VERIFICATIONS.map((value) => ({ value, label: t(`verification.${value}`) })),
    ],
    ['application', t('common:words.application'), own.map(({ id, name }) => ({ value: id, label: name }))],
    [
      'country',
      t('common:words.country'),
      [...countries, { value: NO_COUNTRY, label: countryName(NO_COUNTRY) }],
    ],
    [
      'locale',
      t('details.locale'),
      LOCALES.map((value) => ({ value, label: t(`common:languages.${value}`) })),
    ],
    ['time', t('common:words.period'), TIMES.map((value) => ({ value, label: t(`filters.times.${value}`) }))],
  ] as const;
  const isShown = (name: (typeof choices)[number][0]): boolean =>
    query[name] !== null || name !== 'application' || own.length > 1;
  return (
    <>
      {new Set(applications.map((application) => application.mode)).size > 1 && (
        <Group>
          <SegmentedControl
            aria-label={t('common:words.mode')}
            data={MODES.map((value) => ({ value, label: t(`common:mode.${value}`) }))}
            value={mode}
            onChange={(value) => set({ mode: value, application: null })}
          />
        </Group>
      )}
      <Group gap="xs" align="flex-end" role="group" aria-label={t('common:filters')}>
        {choices
          .filter(([name]) => isShown(name))
          .map(([name, label, data]) => (
            <Select
              key={name}
              label={label}
              placeholder={t('refusedRequests:filters.any')}
              data={data}
              value={query[name]}
              onChange={(value) => set({ [name]: value, ...(name === 'time' && { from: null, to: null }) })}
              clearable
              searchable={name === 'application' || name === 'country'}
              nothingFoundMessage={t('common:picker.nothing')}
              size="xs"
              w={{ base: 'calc(50% - 5px)', sm: 150 }}
              maxDropdownHeight={320}
            />
          ))}
        {query.time === 'custom' &&
          (['from', 'to'] as const).map((name) => (
            <DayField
              key={name}
              label={t(`common:words.${name}`)}
              value={query[name]}
              onChange={(day) => set({ [name]: day })}
              size="xs"
              w={{ base: 'calc(50% - 5px)', sm: 150 }}
            />
          ))}
        {isFiltered && (
          <Button variant="subtle" size="xs" onClick={clear}>
            {t('filters.clear')}
          </Button>
        )}
      </Group>
    </>
  );
}
