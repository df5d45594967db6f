import { Button, VisuallyHidden } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useMayOperate } from '../../app/session.js';
import { Dialog } from '../../components/dialog.js';
import { Section } from '../../components/page.js';

/** A setting of an account, and the dialog in which operators change it. `children` renders its form and gets the function that closes it. */
export function EditableSection({
  title,
  now,
  edit,
  children,
}: {
  title: string;
  now: ReactNode;
  /** The title of the dialog. */
  edit: string;
  children: (close: () => void) => ReactNode;
}) {
  const { t } = useTranslation(['accounts', 'common']);
  const [opened, setOpened] = useState(false);
  const button = (
    <Button variant="default" size="xs" onClick={() => setOpened(true)}>
      {t('common:edit')}
      <VisuallyHidden>: {edit}</VisuallyHidden>
    </Button>
  );
  return (
    <Section title={title} actions={useMayOperate() && button}>
      {now}
      <Dialog opened={opened} onClose={() => setOpened(false)} title={edit}>
        {children(() => setOpened(false))}
      </Dialog>
    </Section>
  );
}
