import { Anchor, Group, Radio, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import type { SettingsView } from '../../../../src/features/settings/view.js';
import { useAside } from '../../api/queries.js';
import { useMayOperate } from '../../app/session.js';
import { ModeBadge } from '../../components/badges.js';
import { DataTable } from '../../components/dataTable.js';
import { DialogForm, useClose } from '../../components/dialog.js';
import { NumberField } from '../../components/numberField.js';
import { Section } from '../../components/page.js';
import { put, useAccountChange } from '../../hooks/change.js';
import { useNumberRule } from '../../hooks/forms.js';
import { useNumbers } from '../../hooks/formats.js';
import { EditableSection } from '../protection/editableSection.js';

interface Props {
  account: StaffAccountDetailsView;
}

/** The rate limit of the account: custom, or from the settings. */
export function RateSection({ account }: Props) {
  const { t } = useTranslation('accounts');
  const { whole } = useNumbers();
  return (
    <EditableSection
      id="rate"
      mayChange={useMayOperate()}
      title={t('rate.title')}
      edit={t('rate.edit')}
      form={<RateForm account={account} />}
    >
      <Text>
        {t('rate.value', { rate: whole(account.ratePerMinute) })} ·{' '}
        {t(account.ownRatePerMinute === null ? 'rate.follows' : 'rate.own')}
      </Text>
    </EditableSection>
  );
}

function RateForm({ account }: Props) {
  const { t } = useTranslation('accounts');
  const { whole } = useNumbers();
  const data = useAside<SettingsView>('/staff/settings');
  const bounds = data?.bounds.accountRatePerMinute ?? { min: 1, max: 1_000_000 };
  const path = `/staff/accounts/${account.id}`;
  const change = useAccountChange(path, useClose());
  const numberRule = useNumberRule();
  const form = useForm({
    initialValues: { isOwn: account.ownRatePerMinute !== null, rate: account.ratePerMinute },
    validate: { rate: (rate, { isOwn }) => (isOwn ? numberRule(bounds)(rate) : null) },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isOwn, rate }) =>
        change.mutate(put(`${path}/rate`, { ratePerMinute: isOwn ? rate : null })),
      )}
      change={change}
    >
      <Switch
        label={t('rate.switch')}
        description={data && t('rate.setting', { rate: whole(data.settings.accountRatePerMinute) })}
        data-autofocus
        {...form.getInputProps('isOwn', { type: 'checkbox' })}
      />
      {form.values.isOwn && (
        <NumberField label={t('rate.label')} {...bounds} {...form.getInputProps('rate')} />
      )}
    </DialogForm>
  );
}

const POLICIES = ['shared', 'own'] as const;

/** The senders that the account uses. */
export function SendersSection({ account }: Props) {
  const { t } = useTranslation(['accounts', 'common']);
  return (
    <EditableSection
      id="senders"
      mayChange={useMayOperate()}
      title={t('common:nav.senders')}
      edit={t('senders.edit')}
      form={<PolicyForm account={account} />}
    >
      <Text>{t(`senders.${account.senders}`)}</Text>
      <Anchor component={Link} to="/staff/senders" underline="always">
        {t('senders.all')}
      </Anchor>
    </EditableSection>
  );
}

function PolicyForm({ account }: Props) {
  const { t } = useTranslation('accounts');
  const path = `/staff/accounts/${account.id}`;
  const change = useAccountChange(path, useClose());
  const form = useForm({ initialValues: { senders: account.senders } });
  return (
    <DialogForm
      onSubmit={form.onSubmit((body) => change.mutate(put(`${path}/senders`, body)))}
      change={change}
    >
      <Radio.Group label={t('senders.label')} {...form.getInputProps('senders')}>
        <Stack gap="xs" pt="xs">
          {POLICIES.map((policy) => (
            <Radio key={policy} value={policy} label={t(`senders.${policy}`)} />
          ))}
        </Stack>
      </Radio.Group>
    </DialogForm>
  );
}

export function MembersSection({ account: { members } }: Props) {
  const { t } = useTranslation(['accounts', 'team', 'common']);
  return (
    <Section title={t('common:nav.team')}>
      {members.length === 0 && <Text c="dimmed">{t('members.none')}</Text>}
      <Stack gap={4}>
        {members.map(({ id, name, role }) => (
          <Group key={id} justify="space-between">
            <Anchor component={Link} to={`/staff/users/${id}`}>
              {name}
            </Anchor>
            <Text c="dimmed">{t(`team:roles.${role}`)}</Text>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

export function ApplicationsSection({ account: { applications } }: Props) {
  const { t } = useTranslation(['protection', 'common', 'applications']);
  const { whole } = useNumbers();
  const limit = (value: number | null): string => (value === null ? t('limits.off') : whole(value));
  return (
    <Section id="limits" title={t('common:nav.applications')}>
      <DataTable
        empty={<Text c="dimmed">{t('limits.none')}</Text>}
        label={t('common:nav.applications')}
        minWidth={300}
        rows={applications}
        getRowKey={({ id }) => id}
        columns={[
          { title: t('common:words.application'), render: ({ name }) => name },
          { title: t('common:words.mode'), render: ({ mode }) => <ModeBadge mode={mode} /> },
          {
            title: t('applications:list.columns.keys'),
            ta: 'right',
            render: ({ keysInUse }) => whole(keysInUse),
          },
          ...(['perMinute', 'perRecipientHour'] as const).map((name) => ({
            title: t(`limits.columns.${name}`),
            ta: 'right' as const,
            visibleFrom: 'sm' as const,
            render: ({ limits }: (typeof applications)[number]) => limit(limits[name]),
          })),
        ]}
      />
    </Section>
  );
}
