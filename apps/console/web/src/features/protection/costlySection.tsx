import { Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { DialogForm } from '../../components/dialog.js';
import { useAccountChange } from '../../hooks/staffChange.js';
import { EditableSection } from './editableSection.js';
import type { ProtectionProps } from './protectionSections.js';

/** Whether the account may send to numbers whose owners may earn by it. */
export function CostlySection({ path, protection, mayChange }: ProtectionProps) {
  const { t } = useTranslation('protection');
  const { allowsCostly, trialCountries } = protection;
  return (
    <EditableSection
      id="costly"
      mayChange={mayChange}
      title={t('costly.title')}
      edit={t('costly.edit')}
      now={
        <>
          <Text size="sm">{t(allowsCostly ? 'costly.allowed' : 'costly.refused')}</Text>
          {trialCountries !== null && (
            <Text size="sm" c="dimmed">
              {t('costly.trial')}
            </Text>
          )}
        </>
      }
    >
      {(close) => <CostlyForm path={path} protection={protection} onClose={close} />}
    </EditableSection>
  );
}

function CostlyForm({
  path,
  protection,
  onClose,
}: Omit<ProtectionProps, 'mayChange'> & { onClose: () => void }) {
  const { t } = useTranslation(['protection', 'common']);
  const change = useAccountChange(path, onClose);
  const form = useForm({ initialValues: { isRefused: !protection.allowsCostly } });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isRefused }) =>
        change.send({ method: 'PUT', path: '/protection/costly', body: { isAllowed: !isRefused } }),
      )}
      action={t('common:save')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      <Switch
        label={t('costly.switch')}
        description={t('costly.what')}
        data-autofocus
        {...form.getInputProps('isRefused', { type: 'checkbox' })}
      />
    </DialogForm>
  );
}
