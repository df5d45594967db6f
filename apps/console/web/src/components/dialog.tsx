import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { createContext, type FormEventHandler, type ReactNode, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from './states.js';
import type { ApiProblem } from '../api/http.js';

/** Whether the identity confirmation is open above other dialogs, which must then ignore Escape. */
export const ConfirmationOpenContext = createContext(false);

const LAYERS = { page: 200, above: 300 } as const;

/**
 * A dialog. Its content is mounted anew each time it opens.
 *
 * @param persistent only its own buttons close it, for content that would be lost
 * @param layer `above` for a dialog that may open while another one is open
 * @param centered not for one whose height changes, which would jump
 */
export function Dialog({
  opened,
  onClose,
  title,
  size = 'md',
  persistent = false,
  layer = 'page',
  centered = true,
  children,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  size?: 'md' | 'lg' | 'xl';
  persistent?: boolean;
  layer?: keyof typeof LAYERS;
  centered?: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const isAbove = layer === 'above';
  const isCovered = useContext(ConfirmationOpenContext) && !isAbove;
  // Listens in the bubbling phase: the dialogs below listen in the capturing phase and must still see that they are covered.
  useWindowEvent('keydown', ({ key }) => {
    if (opened && isAbove && key === 'Escape') onClose();
  });
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={<Text fw={650}>{title}</Text>}
      size={size}
      centered={centered}
      // No exit animation: closing may change the content.
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

/** Asks for confirmation before an action; the children say what will happen. */
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
  /** The label of the button. */
  action: string;
  /** `brand` where the action loses nothing. */
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

/** A form in a dialog: fields, error, cancel and submit buttons. */
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
  /** The label of the button. */
  action: string;
  /** Red where the action stops something. */
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
