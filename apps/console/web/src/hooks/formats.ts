import { useTranslation } from 'react-i18next';

/** Formats numbers in the user's language. */
export function useNumbers(): {
  whole: (number: number) => string;
  /** With its sign, also a plus. */
  signed: (number: number) => string;
} {
  const { i18n } = useTranslation();
  const whole = new Intl.NumberFormat(i18n.language);
  const signed = new Intl.NumberFormat(i18n.language, { signDisplay: 'exceptZero' });
  return { whole: (number) => whole.format(number), signed: (number) => signed.format(number) };
}

/** Formats durations in the user's language, in a fitting unit. */
export function useDurations(): {
  milliseconds: (ms: number) => string;
  seconds: (seconds: number) => string;
} {
  const { language } = useTranslation().i18n;
  const write = (value: number, unit: 'millisecond' | 'second' | 'minute' | 'hour', digits = 0): string =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    }).format(value);

  const milliseconds = (ms: number): string => write(ms, 'millisecond', ms < 10 ? 1 : 0);
  return {
    milliseconds,
    seconds(seconds) {
      if (seconds < 1) return milliseconds(Math.max(0, seconds) * 1_000);
      if (seconds < 120) return write(seconds, 'second', seconds < 10 ? 1 : 0);
      if (seconds < 7_200) return write(seconds / 60, 'minute');
      return write(seconds / 3_600, 'hour', 1);
    },
  };
}
