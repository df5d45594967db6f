import { Button, Group, Modal, Stack, Text, type ButtonProps } from '@mantine/core';
import { useDisclosure, useWindowEvent } from '@mantine/hooks';
import {
  createContext,
  type FormEventHandler,
  type ReactNode,
  useContext,
  useLayoutEffect,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from './states.js';
import type { ApiProblem } from '../api/http.js';

/** Whether the identity confirmation is open above other dialogs, which must then ignore Escape. */
export const ConfirmationOpenContext = createContext(false);

const CloseContext = createContext<() => void>(() => {});

/** Returns the function that closes the dialog around a component. */
export const useClose = (): (() => void) => useContext(CloseContext);

const KeepOpenContext = createContext<(kept: boolean | string) => void>(() => {});

/**
 * Keeps the dialog around a component open until one of its own buttons closes it, for content that would be lost. @param kept whether to
 * do so, or the title to show meanwhile
 */
export function useKeepOpen(kept: boolean | string): void {
  const keep = useContext(KeepOpenContext);
  useLayoutEffect(() => {
    keep(kept);
    return () => keep(false);
  }, [keep, kept]);
}

/**
 * A dialog. Its content is mounted anew each time it opens.
 *
 * @param isAbove for a dialog that may open while another one is open
 * @param centered false if the height of the dialog changes, because it would jump
 */
export function Dialog({
  opened,
  onClose,
  title,
  size = 'md',
  isAbove = false,
  centered = true,
  children,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  size?: 'md' | 'lg';
  isAbove?: boolean;
  centered?: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const [kept, keep] = useState<boolean | string>(false);
  const isCovered = useContext(ConfirmationOpenContext) && !isAbove;
  // Listens in the bubbling phase: the dialogs below listen in the capturing phase and must still see that they are covered.
  useWindowEvent('keydown', ({ key }) => {
    if (opened && isAbove && key === 'Escape') onClose();
  });
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={
        <Text size="md" fw={650}>
          {typeof kept === 'string' ? kept : title}
        </Text>
      }
      size={size}
      centered={centered}
      // No exit animation: closing may change the content.
      transitionProps={{ exitDuration: 0 }}
      closeOnClickOutside={kept === false}
      closeOnEscape={kept === false && !isCovered && !isAbove}
      zIndex={isAbove ? 300 : 200}
      // The header of a dialog is not a header of the page.
      attributes={{ header: { role: 'presentation' } }}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <CloseContext value={onClose}>
        <KeepOpenContext value={keep}>{children}</KeepOpenContext>
      </CloseContext>
    </Modal>
  );
}

/** A button, and the dialog that it opens. */
export function DialogButton({
  label,
  title,
  dialogSize = 'md',
  children,
  ...button
}: ButtonProps & {
  'aria-label'?: string;
  label: ReactNode;
  /** The title of the dialog. */
  title: string;
  dialogSize?: 'md' | 'lg';
  children: ReactNode;
}) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" size="xs" {...button} onClick={open}>
        {label}
      </Button>
      <Dialog opened={opened} onClose={close} title={title} size={dialogSize}>
        {children}
      </Dialog>
    </>
  );
}

/** A form in a dialog: fields, error, cancel and submit buttons. */
export function DialogForm({
  onSubmit,
  action,
  color = 'brand',
  change: { isPending, error },
  marksFields = false,
  children,
}: {
  onSubmit: FormEventHandler<HTMLFormElement>;
  /** The label of the button, if it does more than save. */
  action?: string;
  /** Red if the action blocks or deletes something. */
  color?: 'red.9' | 'brand';
  change: { isPending: boolean; error: ApiProblem | null };
  /** Whether the fields show the errors of invalid input. */
  marksFields?: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const close = useClose();
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        {children}
        {error !== null && !(marksFields && error.code === 'invalid_input') && <Failure problem={error} />}
        <Group justify="flex-end" gap="xs">
          {/* Focused only if no earlier field has the focus. */}
          <Button variant="default" onClick={close} data-autofocus>
            {t('cancel')}
          </Button>
          <Button type="submit" color={color} loading={isPending}>
            {action ?? t('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
