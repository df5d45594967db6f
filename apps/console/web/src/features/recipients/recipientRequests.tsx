import { Button, Group, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../api/queries.js';
import { Section } from '../../components/page.js';
import { ReasonDialog } from '../../components/reasonDialog.js';
import { Failure } from '../../components/states.js';
import { useNumbers } from '../../hooks/formats.js';

/** What is kept of a number, as a file, and its erasure. @param account its path below `/api` */
export function RecipientRequests({ account }: { account: string }) {
  const { t } = useTranslation('recipients');
  const { whole } = useNumbers();
  const [recipient, setRecipient] = useState('');
  const [erasing, setErasing] = useState(false);
  const kept = useChange<object>('/staff/audit');
  const erasure = useChange<{ sendsErased: number }>(account, '/staff/audit');
  const path = `${account}/recipients`;
  const isRefused = kept.error?.code === 'invalid_input' || erasure.error?.code === 'invalid_input';

  const close = (): void => {
    setErasing(false);
    erasure.reset();
  };
  const erase = (reason: string): void =>
    erasure.mutate(
      { method: 'POST', path: `${path}/erase`, body: { recipient, reason } },
      {
        onSuccess: ({ sendsErased }) => {
          close();
          setRecipient('');
          notifications.show({
            message: t('requests.erase.done', { count: sendsErased, sends: whole(sendsErased) }),
          });
        },
      },
    );
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
          onClick={() =>
            kept.mutate(
              { method: 'POST', path: `${path}/export`, body: { recipient } },
              { onSuccess: download },
            )
          }
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
      <ReasonDialog
        opened={erasing}
        onClose={close}
        title={t('requests.erase.title')}
        action={t('requests.erase.button')}
        pending={erasure.isPending}
        problem={erasure.error}
        onConfirm={erase}
      >
        {t('requests.erase.text')}
      </ReasonDialog>
    </Section>
  );
}

/** Hands a file to the browser, whose name does not tell the number. */
function download(kept: object): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(kept, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'onecode-recipient.json';
  link.click();
  URL.revokeObjectURL(url);
}
