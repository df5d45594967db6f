import { Button, Group, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';

/** A search for one text. The text may be a phone number or a key, so it is never in the URL. */
export function SearchForm({
  texts,
  isValid,
  isRefused = false,
  onSearch,
}: {
  /** Without a placeholder, the label is shown above the field. */
  texts: { label: string; placeholder?: string; button: string; invalid: string };
  isValid: (text: string) => boolean;
  /** Whether the server refused the last text. */
  isRefused?: boolean;
  /** Gets a valid text without outer spaces. */
  onSearch: (text: string) => void;
}) {
  const { placeholder } = texts;
  const [text, setText] = useState('');
  const [isInvalid, setInvalid] = useState(false);

  const search = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = text.trim();
    setInvalid(!isValid(wanted));
    if (isValid(wanted)) onSearch(wanted);
  };
  return (
    <form onSubmit={search} noValidate>
      <Group gap="xs" align="flex-start" maw={560}>
        <TextInput
          {...(placeholder === undefined
            ? { label: texts.label }
            : { 'aria-label': texts.label, placeholder, leftSection: <IconSearch size={16} /> })}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setInvalid(false);
          }}
          error={(isInvalid || isRefused) && texts.invalid}
          autoComplete="off"
          spellCheck={false}
          // On a phone, the button is below the field, so that the placeholder is not cut off.
          style={{ flex: '1 1 300px' }}
        />
        <Button type="submit" variant="default" mt={placeholder === undefined ? 24 : 0}>
          {texts.button}
        </Button>
      </Group>
    </form>
  );
}
