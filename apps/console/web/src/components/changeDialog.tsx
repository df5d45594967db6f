import { ActionIcon, Button, Text, TextInput, Tooltip, type ButtonProps } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { IconX } from '@tabler/icons-react';
import type { ComponentProps, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import { useChange, type Change } from '../hooks/change.js';
import { Dialog, DialogForm, useClose } from './dialog.js';

const REASON_LENGTH_MAX = 200;

export function useReasonRule(): (reason: string) => string | null {
  const { t } = useTranslation();
  return (reason) => (reason.trim() === '' ? t('reason.missing') : null);
}

export function ReasonInput(props: ComponentProps<typeof TextInput>) {
  const { t } = useTranslation();
  return (
    <TextInput
      label={t('reason.label')}
      description={t('reason.description')}
      required
      maxLength={REASON_LENGTH_MAX}
      {...props}
    />
  );
}

interface Asked<T> {
  title: string;
  action: string;
  /** `brand` if the action deletes and blocks nothing. */
  color?: 'red.9' | 'brand';
  change: Change;
  /** Whether the change needs a reason, which is then in its body. */
  asksReason?: boolean;
  /** Paths below `/api` that are read again afterwards, with every path below them. */
  stale: readonly string[];
  /** The notification after the change. */
  done: string | ((answer: T) => string);
  onDone?: () => void;
  onError?: (problem: ApiProblem) => void;
  /** The description of the change and its effects. */
  children: ReactNode;
}

/** Asks for confirmation of a change, and for a reason if it needs one. */
export function ChangeDialog<T = void>({
  opened,
  onClose,
  title,
  ...asked
}: Asked<T> & { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <Question {...asked} />
    </Dialog>
  );
}

function Question<T>({
  action,
  color = 'red.9',
  change,
  asksReason = false,
  stale,
  done,
  onDone,
  onError,
  children,
}: Omit<Asked<T>, 'title'>) {
  const close = useClose();
  const rule = useReasonRule();
  const form = useForm({
    initialValues: { reason: '' },
    validate: { reason: (typed) => (asksReason ? rule(typed) : null) },
  });
  const making = useChange<T>(stale, {
    done,
    onDone: () => {
      close();
      onDone?.();
    },
  });
  const make = ({ reason }: typeof form.values): void =>
    making.mutate(
      asksReason ? { ...change, body: { ...change.body, reason: reason.trim() } } : change,
      onError && { onError },
    );
  return (
    <DialogForm onSubmit={form.onSubmit(make)} action={action} color={color} change={making}>
      <Text component="div">{children}</Text>
      {asksReason && <ReasonInput data-autofocus {...form.getInputProps('reason')} />}
    </DialogForm>
  );
}

/** A button with the name of a change, and the dialog that asks before it is made. */
export function ChangeButton<T = void>({
  label,
  text,
  icon: Icon,
  button,
  ...asked
}: Asked<T> & {
  /** For screen readers, if the name of the change does not contain its object. */
  label?: string;
  /** The text of the button, if it differs from the name of the change. */
  text?: string;
  /** Replaces the text of the button, which moves to the tooltip. */
  icon?: typeof IconX;
  button?: ButtonProps;
}) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      {Icon === undefined ? (
        <Button variant="default" size="xs" aria-label={label} {...button} onClick={open}>
          {text ?? asked.action}
        </Button>
      ) : (
        <Tooltip label={asked.action} withArrow>
          <ActionIcon variant="subtle" color="red" aria-label={label} onClick={open}>
            <Icon size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      )}
      <ChangeDialog opened={opened} onClose={close} {...asked} />
    </>
  );
}
