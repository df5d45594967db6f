import { useTranslation } from 'react-i18next';
import { useSession } from '../app/session.js';

/** Returns the function that gives the URL of a documentation page, such as `quick-start#verify`, in the user's language. */
export function useDocs(): (page: string) => string {
  const { apiUrl } = useSession();
  const { language } = useTranslation().i18n;
  return (page) => `${apiUrl}/docs/${language === 'pt-BR' ? 'pt-br/' : ''}${page}`;
}
