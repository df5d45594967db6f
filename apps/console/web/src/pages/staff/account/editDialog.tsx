import { Button, VisuallyHidden } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useMayOperate } from '../../../app/session.js';
import { Dialog } from '../../../parts/dialog.js';

/** A button for operators that opens a form; the form is given what closes it. */
export function EditDialog({
  title,
  children,
}: {
  title: string;
  children: (close: () => void) => ReactNode;
}) {
  const { t } = useTranslation('staff');
  const [opened, setOpened] = useState(false);
  if (!useMayOperate()) return null;
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setOpened(true)}>
        {t('edit')}
        <VisuallyHidden>: {title}</VisuallyHidden>
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={title}>
        {children(() => setOpened(false))}
      </Dialog>
    </>
  );
}
