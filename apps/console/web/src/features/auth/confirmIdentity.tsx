import { Anchor, Group, PasswordInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { setConfirmationPrompt } from '../../api/http.js';
import { useMutationOnce } from '../../api/queries.js';
import { confirmWithCode, confirmWithPasskey, confirmWithPassword } from '../../api/auth.js';
import { ConfirmationOpenContext, Dialog, DialogForm } from '../../components/dialog.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';
import { useSession } from '../../app/session.js';
import { PasskeyButton } from './passkeyButton.js';

/**
 * Asks the user to confirm their identity whenever the server requires that before a change. The change waits with everything
 * that was filled in and is made afterwards; closing the dialog leaves it refused.
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
        layer="above"
      >
        <ConfirmForm onDone={() => finish(true)} onClose={() => finish(false)} />
      </Dialog>
    </ConfirmationOpenContext>
  );
}

type Kind = 'code' | 'backup' | 'password';

function ConfirmForm({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const { t } = useTranslation(['auth', 'common']);
  const { hasTwoFactor } = useSession().user;
  const [kind, setKind] = useState<Kind>(hasTwoFactor ? 'code' : 'password');
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({ initialValues: { proof: '' }, validate: { proof: useRequired() } });
  const { mutate, isPending, error, reset } = useMutationOnce<void, string>({
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
    reset();
  };
  const field = {
    label: t(`confirmIdentity.${kind}.label`),
    required: true,
    'data-autofocus': true,
    ...form.getInputProps('proof'),
  };
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ proof }) => mutate(proof))}
      onClose={onClose}
      action={t('confirmIdentity.action')}
      pending={isPending}
      problem={error?.code === 'invalid_input' ? null : error}
    >
      <Text size="sm">{t(`confirmIdentity.${kind}.text`)}</Text>
      {kind === 'password' ? (
        <PasswordInput
          {...field}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': t('common:showPassword') }}
        />
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
          <Anchor component="button" type="button" size="sm" onClick={switchKind}>
            {t(kind === 'code' ? 'confirmIdentity.useBackup' : 'confirmIdentity.useApp')}
          </Anchor>
        </Group>
      )}
      <PasskeyButton present={confirmWithPasskey} onDone={onDone} />
    </DialogForm>
  );
}
