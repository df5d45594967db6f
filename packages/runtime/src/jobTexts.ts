/** Faults of our own keys, in which no call to the provider is made. */
export const OWN_FAULTS = {
  unreadable_token: 'the sender’s token cannot be opened',
  unreadable_code: 'the sealed code cannot be opened: is a key missing from SECRET_KEY?',
} as const;
export type OwnFault = keyof typeof OWN_FAULTS;

/** What went wrong in a round of delivery: a fault of our keys, or the provider's code (null where it gave none) and its class. */
export type JobFault = OwnFault | { code: number | null; kind: string };

/** How a round of delivery ended, for the send and for whom reads the queue board. */
export interface JobText {
  /** `rejected_by_provider`, for example. */
  end: string;
  fault: JobFault | null;
}

/**
 * The text that a job keeps as its result or as the reason of its failure: `rejected_by_provider: Meta 132018 (config): MEANING`.
 *
 * @param meaning what the provider's code means, in words of ours
 */
export function writeJobText({ end, fault }: JobText, meaning: string): string {
  if (fault === null) return end;
  if (typeof fault === 'string') return `${end}: ${OWN_FAULTS[fault]}`;
  return `${end}: Meta ${fault.code ?? 'without a code'} (${fault.kind}): ${meaning}`;
}

const PROVIDER_FAULT = /^([a-z_]{1,40}): Meta (?:([0-9]{1,9})|without a code) \(([a-z]{1,20})\): /;

/**
 * Reads a text of `writeJobText`, without the meaning: whoever shows it writes that again, so that no other text can pass for it.
 *
 * @returns null for any other text
 */
export function readJobText(text: string): JobText | null {
  const [, end, code, kind] = PROVIDER_FAULT.exec(text) ?? [];
  if (end !== undefined && kind !== undefined)
    return { end, fault: { code: code === undefined ? null : Number(code), kind } };
  const [word, ...rest] = text.split(': ');
  const own = (Object.keys(OWN_FAULTS) as OwnFault[]).find((name) => OWN_FAULTS[name] === rest.join(': '));
  return own === undefined || word === undefined ? null : { end: word, fault: own };
}
