import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import { Failure } from './states.js';

/** The end of a form in a dialog: what went wrong, and its two buttons. */
export function FormButtons({
  action,
  onClose,
  pending,
  problem,
  color = 'brand',
}: {
  action: string;
  onClose: () => void;
  pending: boolean;
  problem: ApiProblem | null;
  /** Red where something stops by it. */
  color?: 'red.9' | 'brand';
}) {
  const { t } = useTranslation();
  return (
    <>
      {problem !== null && <Failure problem={problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button type="submit" color={color} loading={pending}>
          {action}
        </Button>
      </Group>
    </>
  );
}
