import { Anchor, Radio, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { useMayOperate } from '../../app/session.js';
import { DialogForm } from '../../components/dialog.js';
import { useAccountChange } from '../../hooks/staffChange.js';
import { EditableSection } from '../protection/editableSection.js';

const POLICIES = ['shared', 'own-first', 'own'] as const;

interface Props {
  account: StaffAccountDetailsView;
}

/** By which senders the account's sends leave. */
export function SendersSection({ account }: Props) {
  const { t } = useTranslation('accounts');
  const mayOperate = useMayOperate();
  return (
    <EditableSection
      id="senders"
      mayChange={mayOperate}
      title={t('senders.title')}
      edit={t('senders.edit')}
      now={
        <>
          <Text size="sm">{t(`senders.${account.senders}`)}</Text>
          <Anchor component={Link} to="/staff/senders" size="sm" underline="always">
            {t('senders.all')}
          </Anchor>
        </>
      }
    >
      {(close) => <PolicyForm account={account} onClose={close} />}
    </EditableSection>
  );
}

function PolicyForm({ account, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation(['accounts', 'common']);
  const change = useAccountChange(`/staff/accounts/${account.id}`, onClose);
  const form = useForm({ initialValues: { senders: account.senders } });
  return (
    <DialogForm
      onSubmit={form.onSubmit((body) => change.send({ method: 'PUT', path: '/senders', body }))}
      action={t('common:save')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
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
