import { Button, Group, Stack } from '@mantine/core';
import type { FormEventHandler, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import { Failure } from './states.js';

/** A form in a dialog: its fields, what went wrong, and its two buttons. */
export function DialogForm({
  onSubmit,
  onClose,
  action,
  color = 'brand',
  pending,
  problem,
  children,
}: {
  onSubmit: FormEventHandler<HTMLFormElement>;
  onClose: () => void;
  /** The word on the button. */
  action: string;
  /** Red where something stops by it. */
  color?: 'red.9' | 'brand';
  pending: boolean;
  problem: ApiProblem | null;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        {children}
        {problem !== null && <Failure problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit" color={color} loading={pending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
