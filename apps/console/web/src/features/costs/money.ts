import { useTranslation } from 'react-i18next';

/** Formats money in a currency (ISO 4217; null if there is no amount), in the user's language. */
export function useMoney(currency: string | null) {
  const { language } = useTranslation().i18n;
  const money = { style: 'currency', currency: currency ?? 'XXX' } as const;
  const amount = new Intl.NumberFormat(language, money);
  const price = new Intl.NumberFormat(language, { ...money, maximumFractionDigits: 6 });
  return {
    /** With the currency's own digits. */
    amount: (value: number): string => amount.format(value),
    /** Of one message, which may be less than the currency's smallest coin. */
    price: (value: number): string => price.format(value),
  };
}
