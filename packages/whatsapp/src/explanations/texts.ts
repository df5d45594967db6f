import type { AttemptOutcome } from '@onecode/domain';

/** What an error means for a message, and what whoever can do something about it should do. */
export type Texts = readonly [meaning: string, remedy: string];

/** Everything that is said of errors in one language. */
export interface ExplanationTexts {
  readonly codes: ReadonlyMap<number, Texts>;
  /** For an end that no known code explains. */
  readonly outcomes: Readonly<Record<AttemptOutcome, Texts>>;
  /** Code 100 where it is a fault of the sender: subcode 33. */
  readonly unknownSender: Texts;
}
