import { Button, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ReasonInput, useReasonRule } from '../../components/changeDialog.js';
import { saveFile } from '../../components/download.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';
import { useChange } from '../../hooks/change.js';
import { useNumbers } from '../../hooks/formats.js';

/** What is kept of a number, as a file, and its erasure. @param account its path below `/api` */
export function RecipientRequests({ account }: { account: string }) {
  const { t } = useTranslation('recipients');
  const { whole } = useNumbers();
  const [recipient, setRecipient] = useState('');
  const [erasing, setErasing] = useState(false);
  const path = `${account}/recipients`;
  const kept = useChange<object>(['/staff/audit'], {
    // Its name does not tell the number.
    onDone: (all) => saveFile('onecode-recipient.json', JSON.stringify(all, null, 2), 'application/json'),
  });
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: useReasonRule() } });
  const close = (): void => {
    setErasing(false);
    erasure.reset();
    form.reset();
  };
  const erasure = useChange<{ sendsErased: number }>([account, '/staff/audit'], {
    done: ({ sendsErased: count }) => t('requests.erase.done', { count, sends: whole(count) }),
    onDone: () => {
      close();
      setRecipient('');
    },
  });
  const isRefused = kept.error?.code === 'invalid_input' || erasure.error?.code === 'invalid_input';
  return (
    <Section title={t('requests.title')} description={t('requests.description')}>
      <Group gap="xs" align="flex-start" maw={640}>
        <TextInput
          aria-label={t('requests.number')}
          placeholder={t('requests.number')}
          value={recipient}
          onChange={({ currentTarget }) => {
            setRecipient(currentTarget.value);
            kept.reset();
          }}
          error={isRefused && t('requests.invalid')}
          autoComplete="off"
          spellCheck={false}
          style={{ flexGrow: 1 }}
        />
        <Button
          variant="default"
          disabled={recipient.trim() === ''}
          loading={kept.isPending}
          onClick={() => kept.mutate({ method: 'POST', path: `${path}/export`, body: { recipient } })}
        >
          {t('requests.export')}
        </Button>
        <Button
          variant="default"
          disabled={recipient.trim() === ''}
          onClick={() => {
            kept.reset();
            setErasing(true);
          }}
        >
          {t('requests.erase.button')}
        </Button>
      </Group>
      {kept.error !== null && !isRefused && <Failure problem={kept.error} />}
      <Dialog opened={erasing} onClose={close} title={t('requests.erase.title')}>
        <DialogForm
          onSubmit={form.onSubmit(({ reason }) =>
            erasure.mutate({
              method: 'POST',
              path: `${path}/erase`,
              body: { recipient, reason: reason.trim() },
            }),
          )}
          action={t('requests.erase.button')}
          color="red.9"
          change={erasure}
        >
          <Text>{t('requests.erase.text')}</Text>
          <ReasonInput data-autofocus {...form.getInputProps('reason')} />
        </DialogForm>
      </Dialog>
    </Section>
  );
}
