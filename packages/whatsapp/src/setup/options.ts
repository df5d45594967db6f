import type { SetupStep } from './steps.js';

/** A number of a business account. */
export interface FoundNumber {
  phoneNumberId: string;
  /** E.164. */
  number: string;
  /** The name that recipients see; empty if Meta reports none. */
  verifiedName: string;
  status: string;
  /** Messages a second that Meta accepts from it. */
  throughput: number;
  /** Its number, name, status and quality, for people. */
  text: string;
}

/** A number that is being set up. */
export type SetupNumber = Pick<FoundNumber, 'phoneNumberId' | 'number' | 'throughput'> & {
  englishTemplateLanguage: 'en' | 'en_US';
};

export interface SetupOptions {
  token: string;
  businessAccountId: string;
  /** E.164; null for the only number of the business account. */
  number: string | null;
  /** The two-step PIN of the number, or the PIN to set for it; null if unknown. */
  pin: string | null;
  template: string;
  /** Null for the English language in which the template exists, or for `en` if it exists in none. */
  english: 'en' | 'en_US' | null;
  codeValiditySeconds: number;
  /** Whether to only read. A step that would change something is then `waiting`, and its detail describes the change. */
  isDryRun: boolean;
  /** Whether an existing template that differs may be changed. */
  mayChangeTemplates: boolean;
  /** How long to wait for the approval of templates. */
  approvalMs: number;
  /** Returns whether a sender with the number was activated, which implies that the number is registered. */
  isKnown: (phoneNumberId: string) => Promise<boolean>;
  /** Adds the sender, paused, unless it exists. */
  addSender: (number: SetupNumber) => Promise<SetupStep>;
}
