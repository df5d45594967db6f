import { useTranslation } from 'react-i18next';

/** Numbers in the reader's language. */
export function useNumbers(): {
  whole: (number: number) => string;
  /** With its sign, plus too. */
  signed: (number: number) => string;
} {
  const { i18n } = useTranslation();
  const whole = new Intl.NumberFormat(i18n.language);
  const signed = new Intl.NumberFormat(i18n.language, { signDisplay: 'exceptZero' });
  return { whole: (number) => whole.format(number), signed: (number) => signed.format(number) };
}
