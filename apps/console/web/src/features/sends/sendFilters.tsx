import { Button, Group, Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { TIMES, type useSendQuery } from './sendQuery.js';

const STATUSES = ['queued', 'sending', 'sent', 'delivered', 'read', 'failed'] as const;
const VERIFICATIONS = ['pending', 'verified', 'locked', 'expired'] as const;
const MODES = ['live', 'test'] as const;

/** The filters of the list of sends. */
export function SendFilters({ query, isFiltered, set, clear }: ReturnType<typeof useSendQuery>) {
  const { t } = useTranslation(['sends', 'common']);
  const account = useAccount();
  const { data } = useData<{ applications: ApplicationView[] }>(`${account.path}/applications`);
  const applications = (data?.applications ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const choices = [
    ['status', t('columns.status'), STATUSES.map((value) => ({ value, label: t(`status.${value}`) }))],
    [
      'verification',
      t('columns.verification'),
      VERIFICATIONS.map((value) => ({ value, label: t(`verification.${value}`) })),
    ],
    ['application', t('filters.application'), applications],
    ['mode', t('columns.mode'), MODES.map((value) => ({ value, label: t(`common:mode.${value}`) }))],
    ['time', t('filters.time'), TIMES.map((value) => ({ value, label: t(`filters.times.${value}`) }))],
  ] as const;
  return (
    <Group gap="xs" align="flex-end" role="group" aria-label={t('filters.label')}>
      {choices.map(([name, label, data]) => (
        <Select
          key={name}
          label={label}
          placeholder={t('filters.any')}
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
            label={t(`filters.${name}`)}
            value={query[name] ?? ''}
            onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
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
  );
}
