import { useTranslation } from 'react-i18next';

/** Formats of a language, cached because creating one takes a hundred times as long as using it. */
function makeFormats(language: string) {
  const whole = new Intl.NumberFormat(language);
  const signed = new Intl.NumberFormat(language, { signDisplay: 'exceptZero' });
  const share = new Intl.NumberFormat(language, {
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  const minutes = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const seconds = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  return {
    numbers: {
      whole: (number: number): string => whole.format(number),
      /** Always with a sign, plus or minus. */
      signed: (number: number): string => signed.format(number),
      /** A share between 0 and 1 as a percentage with one decimal. */
      share: (part: number): string => share.format(part),
    },
    time: (at: string, options: { seconds?: boolean } = {}): string =>
      (options.seconds ? seconds : minutes).format(new Date(at)),
  };
}

const made = new Map<string, ReturnType<typeof makeFormats>>();

function useFormats(): ReturnType<typeof makeFormats> {
  const { language } = useTranslation().i18n;
  const formats = made.get(language) ?? makeFormats(language);
  made.set(language, formats);
  return formats;
}

export const useNumbers = (): ReturnType<typeof makeFormats>['numbers'] => useFormats().numbers;

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
  /** For a duration that was measured in whole seconds: below one second, the exact value is unknown. */
  const countedSeconds = (value: number): string => (value < 1 ? `<\u00a0${write(1, 's')}` : seconds(value));
  return { milliseconds, seconds, countedSeconds };
}

/** Formats times (RFC 3339) in the user's language and time zone; with seconds if rows would look alike without them. */
export const useTimes = (): ((at: string, options?: { seconds?: boolean }) => string) => useFormats().time;

/** Formats months, `2026-11`, in the user's language, as titles. */
export function useMonths(): (month: string) => string {
  const { language } = useTranslation().i18n;
  const format = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return (month) => {
    const text = format.format(new Date(`${month}-01T00:00:00Z`));
    return text.charAt(0).toUpperCase() + text.slice(1);
  };
}

/** Formats IP addresses, with a text for the address of the server's own machine. */
export function useAddresses(): (address: string) => string {
  const { t } = useTranslation();
  return (address) => (/^(?:::1|(?:::ffff:)?127\..+)$/.test(address) ? t('thisMachine') : address);
}
