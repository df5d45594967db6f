import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCheck, IconPencil } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { IncidentView } from '../../../../src/features/health/view.js';
import { DialogButton, DialogForm, useClose } from '../../components/dialog.js';
import { Time } from '../../components/times.js';
import { post, useChange } from '../../hooks/change.js';

const NOTE_LENGTH_MAX = 200;

/** Who acknowledged an incident, when, and their note; renders nothing before a staff member acknowledges it. */
export function Acknowledgement({ acknowledged }: Pick<IncidentView, 'acknowledged'>) {
  const { t } = useTranslation('health');
  if (acknowledged === null) return null;
  const { by, at, note } = acknowledged;
  return (
    <Text className="breaks-words">
      {t('acknowledged.by', { name: by })} <Time at={at} seconds />
      {note !== null && `: “${note}”`}
    </Text>
  );
}

/** A button that acknowledges an incident, or changes the note. @param isPrimary whether it is the main action of the page */
export function AcknowledgeButton({
  incident: { incidentId, acknowledged },
  isPrimary,
}: {
  incident: IncidentView;
  isPrimary: boolean;
}) {
  const { t } = useTranslation('health');
  if (incidentId === null) return null;
  const [label, Icon] =
    acknowledged === null ? [t('acknowledged.button'), IconCheck] : [t('acknowledged.change'), IconPencil];
  return (
    <DialogButton
      variant={isPrimary ? 'filled' : 'default'}
      leftSection={<Icon size={14} />}
      label={label}
      title={label}
    >
      <NoteForm id={incidentId} note={acknowledged?.note ?? ''} />
    </DialogButton>
  );
}

function NoteForm({ id, note }: { id: string; note: string }) {
  const { t } = useTranslation(['health', 'common']);
  const form = useForm({ initialValues: { note } });
  const change = useChange(['/staff/health', '/staff/audit'], {
    done: t('acknowledged.done'),
    onDone: useClose(),
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((values) => {
        const typed = values.note.trim();
        const path = `/staff/health/incidents/${id}/acknowledge`;
        change.mutate(post(path, typed === '' ? {} : { note: typed }));
      })}
      action={t('acknowledged.button')}
      change={change}
    >
      <Text>{t('acknowledged.what')}</Text>
      <TextInput
        label={t('acknowledged.note')}
        description={t('acknowledged.noteWhat')}
        maxLength={NOTE_LENGTH_MAX}
        data-autofocus
        {...form.getInputProps('note')}
      />
    </DialogForm>
  );
}
