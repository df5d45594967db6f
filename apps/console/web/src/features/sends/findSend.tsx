import { Button, Group, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useAccount } from '../../app/session.js';

const NUMBER = /^\+[0-9 ()-]{6,40}$/;

/** Opens a send by its id, or hands over a whole phone number, which never comes into an address. */
export function FindSend({
  onNumber,
  isInvalid,
}: {
  onNumber: (number: string) => void;
  /** Whether the server says that the last number is none. */
  isInvalid: boolean;
}) {
  const { t } = useTranslation('sends');
  const account = useAccount();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [isInvalidInput, setInvalidInput] = useState(false);

  const find = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = text.trim();
    const isNumber = NUMBER.test(wanted);
    setInvalidInput(!isId(wanted) && !isNumber);
    if (isId(wanted)) void navigate(`${account.path}/sends/${wanted.toLowerCase()}`);
    if (isNumber) onNumber(wanted);
  };
  return (
    <form onSubmit={find} noValidate>
      <Group gap="xs" align="flex-start" wrap="nowrap" maw={560}>
        <TextInput
          aria-label={t('find.label')}
          placeholder={t('find.placeholder')}
          leftSection={<IconSearch size={16} />}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setInvalidInput(false);
          }}
          error={(isInvalidInput || isInvalid) && t('find.invalid')}
          autoComplete="off"
          spellCheck={false}
          style={{ flexGrow: 1 }}
        />
        <Button type="submit" variant="default">
          {t('find.button')}
        </Button>
      </Group>
    </form>
  );
}

/** Opens a send by its id, which stands in the logs. */
export function FindStaffSend() {
  const { t } = useTranslation('sends');
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [isInvalidInput, setInvalidInput] = useState(false);

  const find = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = text.trim().toLowerCase();
    setInvalidInput(!isId(wanted));
    if (isId(wanted)) void navigate(`/staff/sends/${wanted}`);
  };
  return (
    <form onSubmit={find} noValidate>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <TextInput
          label={t('staff.find')}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setInvalidInput(false);
          }}
          error={isInvalidInput && t('staff.invalid')}
          autoComplete="off"
          spellCheck={false}
          flex={1}
        />
        <Button type="submit" variant="default" mt={24}>
          {t('find.button')}
        </Button>
      </Group>
    </form>
  );
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether somebody typed the id of something. */
export const isId = (text: string): boolean => ID.test(text);
