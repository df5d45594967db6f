import { Button, Group, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { isId } from './ids.js';

/** Opens a send by its id, which stands in the logs. */
export function FindSend() {
  const { t } = useTranslation(['staff', 'sends']);
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [isMistyped, setMistyped] = useState(false);

  const find = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = text.trim().toLowerCase();
    setMistyped(!isId(wanted));
    if (isId(wanted)) void navigate(`/operations/sends/${wanted}`);
  };
  return (
    <form onSubmit={find} noValidate>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <TextInput
          label={t('send.find')}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setMistyped(false);
          }}
          error={isMistyped && t('send.invalid')}
          autoComplete="off"
          spellCheck={false}
          flex={1}
        />
        <Button type="submit" variant="default" mt={24}>
          {t('sends:find.button')}
        </Button>
      </Group>
    </form>
  );
}
