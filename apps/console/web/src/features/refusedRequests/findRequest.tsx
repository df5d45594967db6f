import { useTranslation } from 'react-i18next';
import { SearchForm } from '../../components/searchForm.js';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Searches for a request id or an idempotency key, which is often in the form of an id too. A key may hold anything, so only its hash
 * leaves the browser.
 *
 * @param onFind gets the server's query
 */
export function FindRequest({ onFind }: { onFind: (query: string) => void }) {
  const { t } = useTranslation('refusedRequests');

  const find = async (text: string): Promise<void> => {
    const id = text.toLowerCase();
    onFind(
      new URLSearchParams({
        keyHashes: (await hashesOf(text)).join(','),
        ...(ID.test(id) && { request: id }),
      }).toString(),
    );
  };
  return (
    <SearchForm
      texts={{
        label: t('find.label'),
        placeholder: t('find.placeholder'),
        button: t('find.button'),
        invalid: t('find.empty'),
      }}
      isValid={(text) => text !== ''}
      onSearch={(text) => void find(text)}
    />
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
