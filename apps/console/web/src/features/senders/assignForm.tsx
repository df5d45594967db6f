import { MultiSelect, Radio, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import type { SenderView } from '../../../../src/features/senders/view.js';
import { useAside } from '../../api/queries.js';
import { AccountPicker } from '../../components/accountPicker.js';
import { DialogForm, useClose } from '../../components/dialog.js';
import { put, useChange } from '../../hooks/change.js';
import { useSenders } from '../../hooks/senders.js';

/** Assigns a sender to all accounts, to one account or to some of its applications. */
export function AssignForm({ sender }: { sender: SenderView }) {
  const { t } = useTranslation(['senders', 'common']);
  const { path, audit } = useSenders();
  const change = useChange([path, audit, '/staff/health'], { done: t('assign.done'), onDone: useClose() });
  const form = useForm({
    initialValues: {
      owner: sender.accountId === null ? 'shared' : 'account',
      accountId: sender.accountId,
      applicationIds: sender.applicationIds,
    },
    validate: {
      accountId: (id, { owner }) => (owner === 'account' && id === null ? t('assign.noAccount') : null),
    },
  });
  const { owner, accountId } = form.values;
  const data = useAside<StaffAccountDetailsView>(accountId === null ? null : `/staff/accounts/${accountId}`);
  const applications = (data?.id === accountId ? data.applications : []).filter(
    ({ mode }) => mode === 'live',
  );
  return (
    <DialogForm
      onSubmit={form.onSubmit((values) => {
        const isShared = values.owner === 'shared';
        change.mutate(
          put(`${path}/${sender.id}/owner`, {
            accountId: isShared ? null : values.accountId,
            applicationIds: isShared ? [] : values.applicationIds,
          }),
        );
      })}
      change={change}
    >
      <Radio.Group label={t('assign.label')} {...form.getInputProps('owner')}>
        <Stack gap="xs" pt="xs">
          <Radio value="shared" label={t('assign.shared')} />
          <Radio value="account" label={t('assign.account')} description={t('assign.accountWhat')} />
        </Stack>
      </Radio.Group>
      {owner === 'account' && (
        <>
          <AccountPicker
            label={t('common:words.account')}
            value={accountId}
            onChange={(id) => form.setValues({ accountId: id, applicationIds: [] })}
            error={form.errors['accountId'] as string | null}
          />
          <MultiSelect
            label={t('assign.applications')}
            description={t('assign.applicationsWhat')}
            data={applications.map(({ id, name }) => ({ value: id, label: name }))}
            disabled={applications.length === 0}
            {...form.getInputProps('applicationIds')}
          />
        </>
      )}
    </DialogForm>
  );
}
