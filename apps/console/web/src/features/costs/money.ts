import { useTranslation } from 'react-i18next';

/** Formats months, and money in a currency (ISO 4217; null where there is no amount), in the user's language. */
export function useMoney(currency: string | null): {
  /** With the currency's own digits. */
  amount: (amount: number) => string;
  /** Of one message, which may be less than the currency's smallest coin. */
  price: (price: number) => string;
  /** @param month `2026-11` */
  month: (month: string) => string;
} {
  const { language } = useTranslation().i18n;
  const money = { style: 'currency', currency: currency ?? 'XXX' } as const;
  const amount = new Intl.NumberFormat(language, money);
  const price = new Intl.NumberFormat(language, { ...money, maximumFractionDigits: 6 });
  const month = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return {
    amount: (value) => amount.format(value),
    price: (value) => price.format(value),
    month(value) {
      const text = month.format(new Date(`${value}-01T00:00:00Z`));
      return text.charAt(0).toUpperCase() + text.slice(1);
    },
  };
}
