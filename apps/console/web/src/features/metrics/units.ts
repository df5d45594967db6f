import { useTranslation } from 'react-i18next';
import type { PanelDescription } from '../../../../src/features/metrics/view.js';
import { useDurations } from '../../hooks/formats.js';

/** Writes values of one of Grafana's units in the user's language. */
export function useUnit(unit: PanelDescription['unit']): (value: number) => string {
  const { language } = useTranslation().i18n;
  const { seconds } = useDurations();
  const number = (options: Intl.NumberFormatOptions): ((value: number) => string) => {
    const format = new Intl.NumberFormat(language, options);
    return (value) => format.format(value);
  };
  const short = number({ notation: 'compact', maximumSignificantDigits: 3 });
  switch (unit) {
    case 's':
      return seconds;
    case 'percentunit':
      return number({ style: 'percent', maximumSignificantDigits: 2 });
    case 'reqps':
      return (value) => `${short(value)}/s`;
    case 'bytes':
      return (value) => bytes(value, short);
    case 'short':
      return short;
  }
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

function bytes(value: number, write: (value: number) => string): string {
  const power = value < 1 ? 0 : Math.min(BINARY.length - 1, Math.floor(Math.log2(value) / 10));
  return `${write(value / 1_024 ** power)} ${BINARY[power]}`;
}
