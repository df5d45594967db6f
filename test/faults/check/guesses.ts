import { TEST_CODE } from '@onecode/domain';
import { isIndeterminate, ofEachSend, type Facts, type Invariants, type SendFacts } from './facts.js';
import type { Guess, Judgement } from '../evidence.js';

const GUESSES_MAX = 5;
const CLOCK_MS = 2_000;

/** The answered guesses with their judgements. */
const judged = (send: SendFacts): { guess: Guess; judgement: Judgement }[] =>
  send.guesses.flatMap((guess) =>
    guess.reply.kind === 'answer' ? [{ guess, judgement: guess.reply.body }] : [],
  );

/** The judgements of wrong guesses that left the code pending. */
const wrongJudgements = (send: SendFacts): Judgement[] =>
  judged(send)
    .map(({ judgement }) => judgement)
    .filter(({ valid, verification }) => !valid && verification === 'pending');

const sawLock = (send: SendFacts): boolean =>
  judged(send).some(({ judgement }) => judgement.verification === 'locked');

/** The send's code: its own or that of its messages; null when it is unknown. */
export function codeOf({ creations, messages, row }: SendFacts): string | null {
  const own = creations.map(({ body }) => (JSON.parse(body) as { code?: string }).code).find(Boolean);
  return own ?? (row.mode === 'test' ? TEST_CODE : (messages[0]?.code ?? null));
}

export const GUESSES: Invariants = {
  /** One to four attempts are left while the code is pending, and none otherwise. A valid guess makes the code verified. */
  'judgement-is-consistent': ofEachSend((send) =>
    judged(send).map(({ judgement: { valid, verification, attempts_left: left } }) => {
      const leftFits = verification === 'pending' ? left >= 1 && left < GUESSES_MAX : left === 0;
      const agrees = leftFits && (!valid || verification === 'verified');
      return !agrees && `valid ${valid}, ${verification}, ${left} left`;
    }),
  ),
  /** Each wrong guess uses one attempt: no two answers leave the same number, and later ones leave fewer. */
  'attempts-left-never-repeats': ofEachSend((send) => {
    const left = wrongJudgements(send).map((judgement) => judgement.attempts_left);
    const answers = judged(send).filter(({ judgement }) => judgement.verification === 'pending');
    const grows = answers.some(({ guess: one, judgement: { attempts_left: before } }) =>
      answers.some(
        ({ guess: other, judgement }) => one.endedAt < other.startedAt && judgement.attempts_left > before,
      ),
    );
    return [new Set(left).size < left.length && `left ${left.join(', ')}`, grows && 'more left than before'];
  }),
  /** At most five guesses are judged, and the fifth wrong one locks. */
  'five-guesses': ofEachSend((send) => {
    const { wrongGuesses, verification } = send.row;
    return [
      wrongGuesses > GUESSES_MAX && `${wrongGuesses} wrong guesses were judged`,
      verification !== 'locked' && wrongGuesses === GUESSES_MAX && `${verification} after five wrong guesses`,
      verification === 'locked' && wrongGuesses < GUESSES_MAX && `locked after ${wrongGuesses} wrong guesses`,
    ];
  }),
  /** The row counts every guess that was answered as wrong, and no more guesses than were made. */
  'guesses-are-counted': ofEachSend((send) => {
    const { wrongGuesses } = send.row;
    const answered = wrongJudgements(send);
    const fewest = sawLock(send)
      ? GUESSES_MAX
      : Math.max(0, ...answered.map((judgement) => GUESSES_MAX - judgement.attempts_left));
    const unknown = send.guesses.filter(isIndeterminate).length;
    const most = answered.length + (sawLock(send) ? 1 : 0) + unknown;
    return [
      wrongGuesses < fewest && `${wrongGuesses} counted, ${fewest} answered`,
      wrongGuesses > most && `${wrongGuesses} counted, ${most} at most made`,
    ];
  }),
  /** At most one guess for a send is answered with valid: true. */
  'valid-once': ofEachSend((send) => {
    const count = judged(send).filter(({ judgement }) => judgement.valid).length;
    return [count > 1 && `${count} guesses were valid`];
  }),
  /** The right code is never judged wrong, and no other code is valid. */
  'code-decides-judgement': ofEachSend((send) => {
    const code = codeOf(send);
    if (code === null) return [];
    return judged(send).flatMap(({ guess, judgement: { valid, verification } }) => [
      valid && guess.code !== code && 'a wrong code was valid',
      !valid && verification === 'pending' && guess.code === code && 'the right code was judged wrong',
    ]);
  }),
  /** A code is valid only before its deadline. */
  'valid-in-time': ofEachSend((send, { clockStart }: Facts) => {
    const { expiresAt, verifiedAt } = send.row;
    const late = judged(send).some(
      ({ guess, judgement }) => judgement.valid && guess.startedAt > expiresAt - clockStart + CLOCK_MS,
    );
    return [
      verifiedAt !== null && verifiedAt >= expiresAt && 'verified after its deadline',
      late && 'valid after its deadline',
    ];
  }),
  /** A send is verified exactly when a guess was valid; only a lost answer can hide it. */
  'verified-only-by-valid-guess': ofEachSend((send) => {
    const saw = judged(send).some(({ judgement }) => judgement.valid);
    const verified = send.row.verification === 'verified';
    return [
      saw && !verified && `a guess was valid, and the row is ${send.row.verification}`,
      verified && !saw && !send.guesses.some(isIndeterminate) && 'verified, and no guess was valid',
    ];
  }),
};
