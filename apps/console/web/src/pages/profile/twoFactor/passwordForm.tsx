import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../../../api/http.js';
import { useFaultTexts, useRequired } from '../../../parts/fieldFaults.js';
import { Failure } from '../../../parts/states.js';

/** Asks for the person's password before something of their security is changed; the children say what will happen. */
export function PasswordForm({
  action,
  color = 'brand',
  onSubmit,
  onClose,
  children,
}: {
  action: string;
  color?: 'brand' | 'red';
  onSubmit: (password: string) => Promise<void>;
  onClose: () => void;
  children?: ReactNode;
}) {
  const { t } = useTranslation(['profile', 'common']);
  const faultsOf = useFaultTexts();
  const form = useForm({ initialValues: { password: '' }, validate: { password: useRequired() } });
  const { mutate, isPending, error } = useMutation<void, ApiProblem, string>({
    mutationFn: onSubmit,
    onError: (problem) => form.setErrors(faultsOf(problem)),
  });
  return (
    <form onSubmit={form.onSubmit(({ password }) => mutate(password))} noValidate>
      <Stack>
        {children !== undefined && <Text size="sm">{children}</Text>}
        {error !== null && error.code !== 'invalid_input' && <Failure problem={error} />}
        <PasswordInput
          label={t('twoFactor.password')}
          autoComplete="current-password"
          required
          data-autofocus
          visibilityToggleButtonProps={{ 'aria-label': t('common:showPassword') }}
          {...form.getInputProps('password')}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('common:cancel')}
          </Button>
          <Button type="submit" color={color} loading={isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
