import { Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { PasskeyView } from '../../../../src/features/profile/view.js';
import { addPasskey } from '../../api/auth.js';
import { useData, useMutationOnce } from '../../api/queries.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { DataTable } from '../../components/dataTable.js';
import { DialogButton, DialogForm, useClose } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { put, remove, useChange } from '../../hooks/change.js';
import { useRequired } from '../../hooks/forms.js';
import { browserOf } from './sessions.js';

const PATH = '/profile/passkeys';

export function Passkeys() {
  const { t } = useTranslation(['profile', 'common']);
  const read = useData<{ passkeys: PasskeyView[] }>(PATH);
  return (
    <Section
      title={t('passkeys.title')}
      description={t('passkeys.description')}
      actions={
        <DialogButton label={t('passkeys.add')} title={t('passkeys.add')} variant="filled">
          <Add />
        </DialogButton>
      }
    >
      <Loaded read={read}>
        {({ passkeys }) => (
          <DataTable
            empty={<Text c="dimmed">{t('passkeys.none')}</Text>}
            label={t('passkeys.title')}
            verticalSpacing="sm"
            rows={passkeys}
            getRowKey={({ id }) => id}
            columns={[
              { title: t('common:words.name'), render: ({ name }) => name },
              {
                title: t('passkeys.added'),
                visibleFrom: 'sm',
                render: ({ createdAt }) => createdAt !== null && <Time at={createdAt} />,
              },
              {
                title: t('common:actions'),
                render: (passkey) => <Actions passkey={passkey} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function Actions({ passkey }: { passkey: PasskeyView }) {
  const { t } = useTranslation(['profile', 'common']);
  return (
    <Group gap="xs">
      <DialogButton
        size="compact-xs"
        aria-label={t('passkeys.renameOne', passkey)}
        label={t('common:words.rename')}
        title={t('passkeys.renameTitle')}
      >
        <Rename passkey={passkey} />
      </DialogButton>
      <ChangeButton
        button={{ size: 'compact-xs' }}
        label={t('common:words.removeNamed', passkey)}
        title={t('passkeys.removeTitle')}
        action={t('common:words.remove')}
        change={remove(`${PATH}/${passkey.id}`)}
        stale={['/profile']}
        done={t('passkeys.removed')}
      >
        {t('passkeys.removeText', { name: passkey.name })}
      </ChangeButton>
    </Group>
  );
}

function useNameForm(name: string) {
  return useForm({ initialValues: { name }, validate: { name: useRequired() } });
}

function NameInput(props: ReturnType<ReturnType<typeof useNameForm>['getInputProps']>) {
  const { t } = useTranslation(['profile', 'common']);
  return <TextInput label={t('common:words.name')} required maxLength={100} data-autofocus {...props} />;
}

function Add() {
  const { t } = useTranslation(['profile', 'auth']);
  const client = useQueryClient();
  const close = useClose();
  const browser = browserOf(navigator.userAgent);
  const form = useNameForm(browser === null ? '' : t('sessions.device', browser));
  const add = useMutationOnce<void, string>({
    mutationFn: addPasskey,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['profile', 'passkeys'] });
      close();
      notifications.show({ message: t('passkeys.addedNow') });
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ name }) => add.mutate(name.trim()))}
      action={t('auth:secondStep.action')}
      change={add}
    >
      <Text>{t('passkeys.addText')}</Text>
      <NameInput {...form.getInputProps('name')} />
    </DialogForm>
  );
}

function Rename({ passkey }: { passkey: PasskeyView }) {
  const form = useNameForm(passkey.name);
  const change = useChange([PATH], { onDone: useClose() });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ name }) =>
        change.mutate(put(`${PATH}/${passkey.id}`, { name: name.trim() })),
      )}
      change={change}
    >
      <NameInput {...form.getInputProps('name')} />
    </DialogForm>
  );
}
