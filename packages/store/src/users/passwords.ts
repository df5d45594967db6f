import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** NIST SP 800-63B-4 asks for 15 where nothing else is asked for, and 8 beside a second factor; OWASP ASVS 6.2.1 for 8 at least. */
export const PASSWORD_LENGTH_MIN = 12;
export const PASSWORD_LENGTH_MAX = 128;

/** From 0 to 4; 3 is ten million guesses and more. */
const STRENGTH_MIN = 3;

let judge: Promise<ZxcvbnFactory> | undefined;

/** Loaded at the first use: its dictionaries would make every process slower to start, and larger. */
async function loadJudge(): Promise<ZxcvbnFactory> {
  const [zxcvbn, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new zxcvbn.ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    // Further characters only add strength; a longer text, or more substitutions, can take a second to judge.
    maxLength: 40,
    l33tMaxSubstitutions: 10,
  });
}

export type PasswordFault = 'too_short' | 'too_long' | 'guessable';

/** A password that somebody chose, with what is known of them. */
export interface WantedPassword {
  password: string;
  name: string;
  email: string;
}

/** Why a password is refused, or null. `guessable`: it is common, or made of what is known of its owner. Takes up to 30 ms. */
export async function passwordFault({ password, ...owner }: WantedPassword): Promise<PasswordFault | null> {
  if (password.length < PASSWORD_LENGTH_MIN) return 'too_short';
  if (password.length > PASSWORD_LENGTH_MAX) return 'too_long';
  judge ??= loadJudge();
  const { score } = (await judge).check(password, wordsOf(owner));
  return score < STRENGTH_MIN ? 'guessable' : null;
}

function wordsOf({ name, email }: Omit<WantedPassword, 'password'>): string[] {
  const parts = [...name.split(/\s+/), ...email.split(/[@.]/)];
  return ['onecode', name, name.replaceAll(/\s+/g, ''), email, ...parts].filter((word) => word.length > 2);
}

/** A salted scrypt hash, in better-auth's format. */
export async function hashPassword(password: string): Promise<string> {
  const { hashPassword: scrypt } = await import('@better-auth/utils/password');
  return scrypt(password);
}
