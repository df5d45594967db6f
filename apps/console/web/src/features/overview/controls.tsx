import { Group, SegmentedControl, Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { MODES, PERIODS, type Mode, type OverviewQuery, type useOverviewQuery } from './query.js';

/** The filters of the overview. */
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
  return (
    <Group gap="xs" role="group" aria-label={t('controls')}>
      <SegmentedControl
        aria-label={t('period')}
        data={PERIODS.map((value) => ({ value, label: t(`periods.${value}`) }))}
        value={query.period}
        onChange={(period) => set({ period })}
      />
      <SegmentedControl
        aria-label={t('mode')}
        data={MODES.map((value) => ({ value, label: t(`common:mode.${value}`) }))}
        value={mode}
        onChange={(value) => set({ mode: value, application: null })}
      />
      <Select
        aria-label={t('application')}
        placeholder={t('allApplications')}
        data={applications
          .filter((application) => application.mode === mode)
          .map(({ id, name }) => ({ value: id, label: name }))}
        value={query.application}
        onChange={(application) => set({ application })}
        clearable
        searchable
        w={{ base: '100%', xs: 200 }}
      />
      <Select
        aria-label={t('locale')}
        placeholder={t('allLocales')}
        data={(['pt-BR', 'en'] as const).map((value) => ({ value, label: t(`common:languages.${value}`) }))}
        value={query.locale}
        onChange={(locale) => set({ locale })}
        clearable
        w={{ base: '100%', xs: 200 }}
      />
    </Group>
  );
}
