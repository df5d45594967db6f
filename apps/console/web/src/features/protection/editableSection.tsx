import { Button, VisuallyHidden } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../components/dialog.js';
import { Section } from '../../components/page.js';

/** A setting of an account, and the dialog in which those who may change it. `children` renders its form and gets the function that closes it. */
export function EditableSection({
  title,
  id,
  now,
  edit,
  mayChange,
  children,
}: {
  title: string;
  /** What an address names it by. */
  id?: string;
  now: ReactNode;
  /** The title of the dialog. */
  edit: string;
  mayChange: boolean;
  children: (close: () => void) => ReactNode;
}) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState(false);
  const button = (
    <Button variant="default" size="xs" onClick={() => setOpened(true)}>
      {t('edit')}
      <VisuallyHidden>: {edit}</VisuallyHidden>
    </Button>
  );
  return (
    <Section title={title} {...(id !== undefined && { id })} actions={mayChange && button}>
      {now}
      <Dialog opened={opened} onClose={() => setOpened(false)} title={edit}>
        {children(() => setOpened(false))}
      </Dialog>
    </Section>
  );
}
