import { Button, Group, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useCountryName } from '../../hooks/countries.js';
import { MODES, TIMES, type Mode, type useSendQuery } from './sendQuery.js';

const STATUSES = ['queued', 'sending', 'sent', 'delivered', 'read', 'arrived', 'failed'] as const;
const REASONS = ['rejected_by_provider', 'attempts_exhausted', 'expired_before_delivery'] as const;
const VERIFICATIONS = ['pending', 'verified', 'locked', 'expired'] as const;
const LOCALES = ['pt-BR', 'en'] as const;

/** The filters of the list of sends. The mode stands apart where the account has applications of both. */
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
    // These come from a link of the overview.
    [
      'country',
      t('common:words.country'),
      [query.country].flatMap((value) => (value === null ? [] : [{ value, label: countryName(value) }])),
    ],
    [
      'locale',
      t('details.locale'),
      LOCALES.map((value) => ({ value, label: t(`common:languages.${value}`) })),
    ],
    ['time', t('common:words.period'), TIMES.map((value) => ({ value, label: t(`filters.times.${value}`) }))],
  ] as const;
  const isShown = (name: (typeof choices)[number][0]): boolean =>
    query[name] !== null ||
    (name === 'application' ? own.length > 1 : name !== 'country' && name !== 'locale');
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
              searchable={name === 'application'}
              size="xs"
              w={{ base: 'calc(50% - 5px)', sm: 160 }}
              maxDropdownHeight={320}
            />
          ))}
        {query.time === 'custom' &&
          (['from', 'to'] as const).map((name) => (
            <TextInput
              key={name}
              type="date"
              label={t(`common:words.${name}`)}
              value={query[name] ?? ''}
              onChange={({ currentTarget }) => set({ [name]: currentTarget.value || null })}
              size="xs"
              w={{ base: 'calc(50% - 5px)', sm: 160 }}
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
