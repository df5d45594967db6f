import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import type { ComponentProps, FormEventHandler, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import { Failure } from './states.js';

/** A form in a page: the error that belongs to no field, the fields, and the button. */
export function PageForm({
  onSubmit,
  action,
  change: { isPending, error },
  isInSection = false,
  children,
}: {
  onSubmit: FormEventHandler<HTMLFormElement>;
  action: string;
  change: { isPending: boolean; error: ApiProblem | null };
  /** Whether the form is in a section, which is wider than the fields need to be. */
  isInSection?: boolean;
  children: ReactNode;
}) {
  const button = (
    <Button type="submit" loading={isPending}>
      {action}
    </Button>
  );
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack {...(isInSection && { maw: 420 })}>
        {error !== null && error.code !== 'invalid_input' && <Failure problem={error} />}
        {children}
        {isInSection ? <Group>{button}</Group> : button}
      </Stack>
    </form>
  );
}

/** A field for the user's current password. */
export function CurrentPassword(input: ComponentProps<typeof PasswordInput>) {
  const { t } = useTranslation();
  return (
    <PasswordInput
      autoComplete="current-password"
      required
      visibilityToggleButtonProps={{ 'aria-label': t('showPassword') }}
      {...input}
    />
  );
}
