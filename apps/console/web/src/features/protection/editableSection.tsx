import { VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { DialogButton } from '../../components/dialog.js';
import { Section } from '../../components/page.js';

/** A setting of an account, and the dialog that changes it for users with the right role. */
export function EditableSection({
  title,
  id,
  description,
  edit,
  form,
  mayChange,
  children,
}: {
  title: string;
  /** The URL fragment of the section. */
  id?: string;
  description?: string;
  /** The title of the dialog. */
  edit: string;
  form: ReactNode;
  mayChange: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const label = (
    <>
      {t('edit')}
      <VisuallyHidden>: {edit}</VisuallyHidden>
    </>
  );
  const button = (
    <DialogButton label={label} title={edit}>
      {form}
    </DialogButton>
  );
  return (
    <Section title={title} id={id} description={description} actions={mayChange && button}>
      {children}
    </Section>
  );
}
