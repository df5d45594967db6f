import type { AttemptOutcome } from '@onecode/domain';

/** What an error means for a message, and what to do about it. */
export type Texts = readonly [meaning: string, remedy: string];

/** The explanations in one language. */
export interface ExplanationTexts {
  readonly codes: ReadonlyMap<number, Texts>;
  /** For outcomes without a known code. */
  readonly outcomes: Readonly<Record<AttemptOutcome, Texts>>;
  /** For code 100 with subcode 33, which is a fault of the sender. */
  readonly unknownSender: Texts;
}
