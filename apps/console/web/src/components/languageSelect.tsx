import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Selects one of the languages of pages and messages. */
export function LanguageSelect(props: SelectProps) {
  const { t } = useTranslation();
  const data = (['en', 'pt-BR'] as const).map((value) => ({ value, label: t(`languages.${value}`) }));
  return <Select label={t('language')} data={data} allowDeselect={false} {...props} />;
}
