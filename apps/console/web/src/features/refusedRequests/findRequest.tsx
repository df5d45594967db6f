import { Button, Group, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Searches for a request id or an idempotency key, which is often in the form of an id too. A key may hold anything, so only its hash
 * leaves the browser.
 *
 * @param onFind gets the server's query
 */
export function FindRequest({ onFind }: { onFind: (query: string) => void }) {
  const { t } = useTranslation('refusedRequests');
  const [text, setText] = useState('');
  const [isEmpty, setEmpty] = useState(false);

  const find = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wanted = text.trim();
    setEmpty(wanted === '');
    if (wanted === '') return;
    const id = wanted.toLowerCase();
    onFind(
      new URLSearchParams({
        keyHashes: (await hashesOf(wanted)).join(','),
        ...(ID.test(id) && { request: id }),
      }).toString(),
    );
  };
  return (
    <form onSubmit={(event) => void find(event)} noValidate>
      <Group gap="xs" align="flex-start" wrap="nowrap" maw={560}>
        <TextInput
          aria-label={t('find.label')}
          placeholder={t('find.placeholder')}
          leftSection={<IconSearch size={16} />}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            setEmpty(false);
          }}
          error={isEmpty && t('find.empty')}
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

/** The hashes that a key may have: most clients send it in UTF-8, and some in latin1. */
async function hashesOf(key: string): Promise<string[]> {
  const utf8 = new TextEncoder().encode(key);
  const codes = [...key].map((character) => character.codePointAt(0) ?? 0);
  const isLatin1 = codes.every((code) => code <= 0xff);
  const forms = isLatin1 && utf8.length !== codes.length ? [utf8, Uint8Array.from(codes)] : [utf8];
  return Promise.all(forms.map(sha256));
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
