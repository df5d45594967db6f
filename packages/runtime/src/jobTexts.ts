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

/** The text that a job keeps: `rejected_by_provider: Meta 132018 (config): MEANING`, which is ours of the provider's code. */
export function writeJobText({ end, fault }: JobText, meaning: string): string {
  if (fault === null) return end;
  if (typeof fault === 'string') return `${end}: ${OWN_FAULTS[fault]}`;
  return `${end}: Meta ${fault.code ?? 'without a code'} (${fault.kind}): ${meaning}`;
}

const PROVIDER_FAULT = /^([a-z_]{1,40}): Meta (?:([0-9]{1,9})|without a code) \(([a-z]{1,20})\): /;

/** Reads a text of `writeJobText` but for the meaning, which is written again: no other text can pass for it. Null for any other. */
export function readJobText(text: string): JobText | null {
  const [, end, code, kind] = PROVIDER_FAULT.exec(text) ?? [];
  if (end !== undefined && kind !== undefined)
    return { end, fault: { code: code === undefined ? null : Number(code), kind } };
  const [word, ...rest] = text.split(': ');
  const own = (Object.keys(OWN_FAULTS) as OwnFault[]).find((name) => OWN_FAULTS[name] === rest.join(': '));
  return own === undefined || word === undefined ? null : { end: word, fault: own };
}
