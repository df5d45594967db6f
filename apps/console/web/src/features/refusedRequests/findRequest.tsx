import { useTranslation } from 'react-i18next';
import { SearchForm } from '../../components/searchForm.js';

/** The bytes of the longest idempotency key; a text has as many characters at the most. */
const LENGTH_MAX = 255;

/** Searches for a request id or an idempotency key, which is often in the form of an id too. */
export function FindRequest({ onFind }: { onFind: (text: string) => void }) {
  const { t } = useTranslation('refusedRequests');
  return (
    <SearchForm
      texts={{
        label: t('find.label'),
        placeholder: t('find.placeholder'),
        button: t('find.button'),
        invalid: t('find.invalid', { max: LENGTH_MAX }),
      }}
      isValid={(text) => text !== '' && text.length <= LENGTH_MAX}
      onSearch={onFind}
    />
  );
}
