import { Group, SegmentedControl, Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { DayField } from '../../components/dayField.js';
import { LanguageSelect } from '../../components/languageSelect.js';
import { MODES, type Mode } from '../sends/sendQuery.js';
import { CUSTOM_DAYS_MAX, PERIODS, spanOf, type OverviewQuery, type useOverviewQuery } from './query.js';

/** The filters of the overview. A filter with only one choice is left out. */
export function OverviewControls({
  query,
  mode,
  applications,
  set,
}: {
  query: OverviewQuery;
  mode: Mode;
  applications: readonly ApplicationView[];
  set: ReturnType<typeof useOverviewQuery>['set'];
}) {
  const { t } = useTranslation(['overview', 'common']);
  const own = applications.filter((application) => application.mode === mode);
  const isWrong = query.from !== null && query.to !== null && spanOf(query) === null;
  return (
    <Group gap="xs" align="flex-start" role="group" aria-label={t('common:filters')}>
      <SegmentedControl
        aria-label={t('common:words.period')}
        data={PERIODS.map((value) => ({ value, label: t(`periods.${value}`) }))}
        value={query.period}
        onChange={(period) => set({ period, from: null, to: null })}
      />
      {query.period === 'custom' &&
        (['from', 'to'] as const).map((name) => (
          <DayField
            key={name}
            aria-label={t(`range.${name}`)}
            value={query[name]}
            onChange={(day) => set({ [name]: day })}
            error={name === 'to' && isWrong && t('range.invalid', { max: CUSTOM_DAYS_MAX })}
            maw={200}
          />
        ))}
      {new Set(applications.map((application) => application.mode)).size > 1 && (
        <SegmentedControl
          aria-label={t('common:words.mode')}
          data={MODES.map((value) => ({ value, label: t(`common:mode.${value}`) }))}
          value={mode}
          onChange={(value) => set({ mode: value, application: null })}
        />
      )}
      {own.length > 1 && (
        <Select
          aria-label={t('common:words.application')}
          placeholder={t('common:words.allApplications')}
          data={own.map(({ id, name }) => ({ value: id, label: name }))}
          value={query.application}
          onChange={(application) => set({ application })}
          clearable
          searchable
          w={{ base: '100%', xs: 200 }}
        />
      )}
      <LanguageSelect
        label={null}
        aria-label={t('common:language')}
        placeholder={t('allLocales')}
        value={query.locale}
        onChange={(locale) => set({ locale })}
        clearable
        w={{ base: '100%', xs: 200 }}
      />
    </Group>
  );
}
