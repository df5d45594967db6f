import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ChangeButton } from '../../components/changeDialog.js';
import { saveFile } from '../../components/download.js';
import { Failure } from '../../components/states.js';
import { post, useChange } from '../../hooks/change.js';
import { useNumbers } from '../../hooks/formats.js';

/** The export of the data about a number, and its erasure. @param account its path below `/api` */
export function RecipientRequests({ account }: { account: string }) {
  const { t } = useTranslation('recipients');
  const { whole } = useNumbers();
  const [recipient, setRecipient] = useState('');
  const [isInvalid, setInvalid] = useState(false);
  const path = `${account}/recipients`;
  const kept = useChange<object>(['/staff/audit'], {
    // The file name does not contain the number.
    onDone: (all) => saveFile('onecode-recipient.json', JSON.stringify(all, null, 2), 'application/json'),
  });
  const write = (number: string): void => {
    setRecipient(number);
    setInvalid(false);
    kept.reset();
  };
  const isRefused = kept.error?.code === 'invalid_input';
  return (
    <Stack gap="sm">
      <Group gap="xs" align="flex-start" maw={640}>
        <TextInput
          aria-label={t('requests.number')}
          placeholder={t('requests.number')}
          value={recipient}
          onChange={({ currentTarget }) => write(currentTarget.value)}
          error={(isRefused || isInvalid) && t('requests.invalid')}
          autoComplete="off"
          spellCheck={false}
          style={{ flexGrow: 1 }}
        />
        <Button
          variant="default"
          disabled={recipient.trim() === ''}
          loading={kept.isPending}
          onClick={() => kept.mutate(post(`${path}/export`, { recipient }))}
        >
          {t('requests.export')}
        </Button>
        <ChangeButton<{ sendsErased: number }>
          button={{ size: 'sm', disabled: recipient.trim() === '' }}
          title={t('requests.erase.title')}
          action={t('requests.erase.button')}
          change={post(`${path}/erase`, { recipient })}
          asksReason
          stale={[account, '/staff/audit']}
          done={({ sendsErased: count }) => t('requests.erase.done', { count, sends: whole(count) })}
          onDone={() => write('')}
          onError={({ code }) => setInvalid(code === 'invalid_input')}
        >
          <Text fw={650} className="tabular" mb="xs">
            {recipient.trim()}
          </Text>
          {t('requests.erase.text')}
        </ChangeButton>
      </Group>
      {kept.error !== null && !isRefused && <Failure problem={kept.error} />}
    </Stack>
  );
}
