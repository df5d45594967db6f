import { Button, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PasskeyView } from '../../../../src/features/profile/view.js';
import { addPasskey } from '../../api/auth.js';
import { useChange, useData, useMutationOnce } from '../../api/queries.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { DataTable } from '../../components/dataTable.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { useRequired } from '../../hooks/forms.js';
import { browserOf } from './sessions.js';

const PATH = '/profile/passkeys';

/** The passkeys of the user: added, named and removed. */
export function Passkeys() {
  const { t } = useTranslation('profile');
  const read = useData<{ passkeys: PasskeyView[] }>(PATH);
  const [adds, setAdds] = useState(false);
  const [renamed, setRenamed] = useState<PasskeyView | null>(null);
  const [removed, setRemoved] = useState<PasskeyView | null>(null);
  return (
    <Section
      title={t('passkeys.title')}
      description={t('passkeys.description')}
      actions={
        <Button size="xs" onClick={() => setAdds(true)}>
          {t('passkeys.add')}
        </Button>
      }
    >
      <Loaded read={read}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('passkeys.none')}
            </Text>
          ) : (
            <DataTable
              label={t('passkeys.title')}
              verticalSpacing="sm"
              rows={passkeys}
              keyOf={({ id }) => id}
              columns={[
                { title: t('passkeys.name'), render: ({ name }) => name },
                {
                  title: t('passkeys.added'),
                  visibleFrom: 'sm',
                  render: ({ createdAt }) => createdAt !== null && <Time at={createdAt} />,
                },
                {
                  title: t('passkeys.actions'),
                  render: (passkey) => (
                    <Group gap="xs">
                      {(
                        [
                          ['rename', setRenamed],
                          ['remove', setRemoved],
                        ] as const
                      ).map(([name, choose]) => (
                        <Button
                          key={name}
                          size="compact-xs"
                          variant="default"
                          aria-label={t(`passkeys.${name}One`, passkey)}
                          onClick={() => choose(passkey)}
                        >
                          {t(`passkeys.${name}`)}
                        </Button>
                      ))}
                    </Group>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <Dialog opened={adds} onClose={() => setAdds(false)} title={t('passkeys.add')}>
        <Add onClose={() => setAdds(false)} />
      </Dialog>
      <Dialog opened={renamed !== null} onClose={() => setRenamed(null)} title={t('passkeys.renameTitle')}>
        {renamed !== null && <Rename passkey={renamed} onClose={() => setRenamed(null)} />}
      </Dialog>
      <ConfirmChange
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('passkeys.removeTitle')}
        action={t('passkeys.remove')}
        change={{ method: 'DELETE', path: `${PATH}/${removed?.id ?? ''}` }}
        stale={['/profile']}
        done={t('passkeys.removed')}
      >
        {t('passkeys.removeText', { name: removed?.name })}
      </ConfirmChange>
    </Section>
  );
}

function useNameForm(name: string) {
  return useForm({ initialValues: { name }, validate: { name: useRequired() } });
}

function NameInput(props: ReturnType<ReturnType<typeof useNameForm>['getInputProps']>) {
  const { t } = useTranslation('profile');
  return <TextInput label={t('passkeys.name')} required maxLength={100} data-autofocus {...props} />;
}

function Add({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('profile');
  const client = useQueryClient();
  const browser = browserOf(navigator.userAgent);
  const form = useNameForm(browser === null ? '' : t('sessions.device', browser));
  const add = useMutationOnce<void, string>({
    mutationFn: addPasskey,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['profile', 'passkeys'] });
      onClose();
      notifications.show({ message: t('passkeys.addedNow') });
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ name }) => add.mutate(name.trim()))}
      onClose={onClose}
      action={t('passkeys.continue')}
      pending={add.isPending}
      problem={add.error}
    >
      <Text size="sm">{t('passkeys.addText')}</Text>
      <NameInput {...form.getInputProps('name')} />
    </DialogForm>
  );
}

function Rename({ passkey, onClose }: { passkey: PasskeyView; onClose: () => void }) {
  const { t } = useTranslation(['profile', 'common']);
  const form = useNameForm(passkey.name);
  const { mutate, isPending, error } = useChange(PATH);
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ name }) =>
        mutate(
          { method: 'PUT', path: `${PATH}/${passkey.id}`, body: { name: name.trim() } },
          { onSuccess: onClose },
        ),
      )}
      onClose={onClose}
      action={t('common:save')}
      pending={isPending}
      problem={error}
    >
      <NameInput {...form.getInputProps('name')} />
    </DialogForm>
  );
}
