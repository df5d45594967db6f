/** A sender that may send now, as the store lists it. */
export interface AvailableSender {
  id: string;
  phoneNumberId: string;
  /** E.164. */
  number: string;
  tokenBox: Uint8Array;
  template: string;
  /** The language under which the English template was approved. */
  english: 'en' | 'en_US';
  faults: number;
  /** ISO 3166 codes of countries that this sender may not message for now. */
  blockedCountries: string[];
}

const PAUSE_SECONDS_MIN = 60;
const PAUSE_SECONDS_MAX = 3600;

/** Seconds for which a sender rests after its nth fault in a row (1 for the first): a minute, doubling, an hour at most. */
export function pauseSeconds(faults: number): number {
  return Math.min(PAUSE_SECONDS_MAX, PAUSE_SECONDS_MIN * 2 ** Math.min(faults - 1, 10));
}

/**
 * Chooses the sender of an attempt among those available, all with the same chance, or null when none may message the country.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function chooseSender(
  senders: readonly AvailableSender[],
  country: string | null,
  random: number,
): AvailableSender | null {
  const able = senders.filter((sender) => country === null || !sender.blockedCountries.includes(country));
  return able[Math.floor(random * able.length)] ?? null;
}
