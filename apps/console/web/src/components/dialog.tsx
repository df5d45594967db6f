import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { createContext, type FormEventHandler, type ReactNode, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from './states.js';
import type { ApiProblem } from '../api/http.js';

/** Whether a dialog stands above all others, which therefore must not take its Escape for theirs. */
export const ConfirmationOpenContext = createContext(false);

const LAYERS = { page: 200, above: 300 } as const;

/**
 * A dialog above the page; what is in it begins anew each time it opens.
 *
 * @param persistent only its own buttons close it, because what it shows would be lost
 * @param layer `above` for one that may come while another is open
 */
export function Dialog({
  opened,
  onClose,
  title,
  size = 'md',
  persistent = false,
  layer = 'page',
  children,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  size?: 'md' | 'lg' | 'xl';
  persistent?: boolean;
  layer?: keyof typeof LAYERS;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const isAbove = layer === 'above';
  const isCovered = useContext(ConfirmationOpenContext) && !isAbove;
  // In the event's last phase: the dialogs below look at it in the first, and must still find themselves covered.
  useWindowEvent('keydown', ({ key }) => {
    if (opened && isAbove && key === 'Escape') onClose();
  });
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={<Text fw={650}>{title}</Text>}
      size={size}
      centered
      // Gone at once: what is in it may change with its closing.
      transitionProps={{ exitDuration: 0 }}
      closeOnClickOutside={!persistent}
      closeOnEscape={!persistent && !isCovered && !isAbove}
      zIndex={LAYERS[layer]}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {children}
    </Modal>
  );
}

/** Asks before something that cannot be taken back; the children say what will happen. */
export function Confirm({
  opened,
  onClose,
  title,
  action,
  color = 'red.9',
  onConfirm,
  pending,
  problem,
  children,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** The word on the button. */
  action: string;
  /** `brand` where nothing is lost by it. */
  color?: 'red.9' | 'brand';
  onConfirm: () => void;
  pending: boolean;
  problem: ApiProblem | null;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {problem !== null && <Failure problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('cancel')}
          </Button>
          <Button color={color} onClick={onConfirm} loading={pending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

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
