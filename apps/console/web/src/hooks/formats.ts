import { useTranslation } from 'react-i18next';

export function useNumbers() {
  const { i18n } = useTranslation();
  const whole = new Intl.NumberFormat(i18n.language);
  const signed = new Intl.NumberFormat(i18n.language, { signDisplay: 'exceptZero' });
  const share = new Intl.NumberFormat(i18n.language, {
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  return {
    whole: (number: number): string => whole.format(number),
    /** With its sign, also a plus. */
    signed: (number: number): string => signed.format(number),
    /** A part of one as a percentage with one digit after the point. */
    share: (part: number): string => share.format(part),
  };
}

/** Formats durations in a fitting unit, with the symbols of the SI, which all our languages share. */
export function useDurations() {
  const { language } = useTranslation().i18n;
  const write = (value: number, unit: 'ms' | 's' | 'min' | 'h'): string => {
    const number = new Intl.NumberFormat(language, { maximumFractionDigits: value < 10 ? 1 : 0 });
    return `${number.format(value)}\u00a0${unit}`;
  };
  const milliseconds = (ms: number): string => write(ms, 'ms');
  const seconds = (value: number): string => {
    if (value <= 0) return write(0, 's');
    if (value < 1) return milliseconds(value * 1_000);
    if (value < 120) return write(value, 's');
    if (value < 7_200) return write(value / 60, 'min');
    return write(value / 3_600, 'h');
  };
  /** For a time that was counted in whole seconds at the least: below one second, nothing more is known. */
  const countedSeconds = (value: number): string => (value < 1 ? `<\u00a0${write(1, 's')}` : seconds(value));
  return { milliseconds, seconds, countedSeconds };
}

/** Formats times (RFC 3339) in the user's language and time zone; with seconds where they tell rows apart. */
export function useTimes(): (at: string, options?: { seconds?: boolean }) => string {
  const { language } = useTranslation().i18n;
  return (at, { seconds = false } = {}) =>
    new Date(at).toLocaleString(language, { dateStyle: 'medium', timeStyle: seconds ? 'medium' : 'short' });
}

/** Formats months, `2026-11`, in the user's language, as titles. */
export function useMonths(): (month: string) => string {
  const { language } = useTranslation().i18n;
  const format = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return (month) => {
    const text = format.format(new Date(`${month}-01T00:00:00Z`));
    return text.charAt(0).toUpperCase() + text.slice(1);
  };
}

/** Formats IP addresses: that of the server's own machine says nothing to anybody. */
export function useAddresses(): (address: string) => string {
  const { t } = useTranslation();
  return (address) => (/^(?:::1|(?:::ffff:)?127\..+)$/.test(address) ? t('thisMachine') : address);
}
