import { Anchor, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { setConfirmationPrompt } from '../../api/http.js';
import { useMutationOnce } from '../../api/queries.js';
import { confirmWithCode, confirmWithPasskey, confirmWithPassword } from '../../api/auth.js';
import { ConfirmationOpenContext, Dialog, DialogForm } from '../../components/dialog.js';
import { CurrentPassword } from '../../components/pageForm.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';
import { useSession } from '../../app/session.js';
import { PasskeyButton } from './passkeyButton.js';

/**
 * Asks the user to confirm their identity whenever the server requires that before a change. The change waits with all
 * entered values and is made afterwards; closing the dialog leaves it refused.
 */
export function ConfirmIdentity({ children }: { children: ReactNode }) {
  const { t } = useTranslation('auth');
  const [answer, setAnswer] = useState<((isConfirmed: boolean) => void) | null>(null);
  useEffect(() => {
    setConfirmationPrompt(() => new Promise((resolve) => setAnswer(() => resolve)));
    return () => setConfirmationPrompt(null);
  }, []);
  const finish = (isConfirmed: boolean): void => {
    setAnswer(null);
    answer?.(isConfirmed);
  };
  return (
    <ConfirmationOpenContext value={answer !== null}>
      {children}
      <Dialog
        opened={answer !== null}
        onClose={() => finish(false)}
        title={t('confirmIdentity.title')}
        isAbove
      >
        <ConfirmForm onDone={() => finish(true)} />
      </Dialog>
    </ConfirmationOpenContext>
  );
}

type Kind = 'code' | 'backup' | 'password';

function ConfirmForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('auth');
  const { hasTwoFactor } = useSession().user;
  const [kind, setKind] = useState<Kind>(hasTwoFactor ? 'code' : 'password');
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({ initialValues: { proof: '' }, validate: { proof: useRequired() } });
  const confirm = useMutationOnce<void, string>({
    mutationFn: (proof) => (kind === 'password' ? confirmWithPassword(proof) : confirmWithCode(proof.trim())),
    onSuccess: onDone,
    onError: (problem) => {
      if (kind !== 'password') form.setFieldValue('proof', '');
      form.setErrors({ proof: fieldErrorsOf(problem)['password'] });
      form.getInputNode('proof')?.focus();
    },
  });
  const switchKind = (): void => {
    setKind(kind === 'code' ? 'backup' : 'code');
    form.reset();
    confirm.reset();
  };
  const field = {
    label: t(`confirmIdentity.${kind}.label`),
    required: true,
    'data-autofocus': true,
    ...form.getInputProps('proof'),
  };
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ proof }) => confirm.mutate(proof))}
      action={t('confirmIdentity.action')}
      change={confirm}
      marksFields
    >
      <Text>{t(`confirmIdentity.${kind}.text`)}</Text>
      {kind === 'password' ? (
        <CurrentPassword {...field} />
      ) : (
        <TextInput
          key={kind}
          {...field}
          autoComplete={kind === 'code' ? 'one-time-code' : 'off'}
          inputMode={kind === 'code' ? 'numeric' : 'text'}
          maxLength={20}
        />
      )}
      {kind !== 'password' && (
        <Group>
          <Anchor component="button" type="button" onClick={switchKind}>
            {t(kind === 'code' ? 'secondStep.useBackup' : 'secondStep.useApp')}
          </Anchor>
        </Group>
      )}
      <PasskeyButton present={confirmWithPasskey} onDone={onDone} />
    </DialogForm>
  );
}
