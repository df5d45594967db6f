import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useAccount } from '../../app/session.js';
import { SearchForm } from '../../components/searchForm.js';

/** Opens a send by its id. Any other text is a phone number for the server to read, and must never appear in a URL. */
export function FindSend({
  onNumber,
  isInvalid,
}: {
  onNumber: (number: string) => void;
  /** Whether the server refused the last number. */
  isInvalid: boolean;
}) {
  const { t } = useTranslation('sends');
  const account = useAccount();
  const navigate = useNavigate();

  const find = (text: string): void => {
    if (isId(text)) void navigate(`${account.sendsPath}/${text.toLowerCase()}`);
    else onNumber(text);
  };
  return (
    <SearchForm
      texts={{
        label: t('find.label'),
        placeholder: t('find.placeholder'),
        button: t('find.button'),
        invalid: t('find.invalid'),
      }}
      isValid={(text) => text !== ''}
      isRefused={isInvalid}
      onSearch={find}
    />
  );
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const isId = (text: string): boolean => ID.test(text);
