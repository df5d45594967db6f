import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** NIST SP 800-63B-4 requires 15 characters for a password alone, and 8 with a second factor; OWASP ASVS 6.2.1 requires at least 8. */
export const PASSWORD_LENGTH_MIN = 12;
export const PASSWORD_LENGTH_MAX = 128;

/** From 0 to 4; 3 means at least ten million guesses. */
const STRENGTH_MIN = 3;

let judge: Promise<ZxcvbnFactory> | undefined;

/** Loads the library at the first use, because its dictionaries use memory and slow down a process's start. */
async function loadJudge(): Promise<ZxcvbnFactory> {
  const [zxcvbn, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new zxcvbn.ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    // Later characters only add strength, and judging a longer text or more substitutions can take a second.
    maxLength: 40,
    l33tMaxSubstitutions: 10,
  });
}

export type PasswordFault = 'too_short' | 'too_long' | 'guessable';

/** A chosen password, with the known data of its owner. */
export interface WantedPassword {
  password: string;
  name: string;
  email: string;
}

/** Returns why a password is refused, or null. `guessable`: it is common, or derived from its owner's data. Takes up to 30 ms. */
export async function passwordFault({ password, ...owner }: WantedPassword): Promise<PasswordFault | null> {
  if (password.length < PASSWORD_LENGTH_MIN) return 'too_short';
  if (password.length > PASSWORD_LENGTH_MAX) return 'too_long';
  judge ??= loadJudge();
  const { score } = (await judge).check(password, listWords(owner));
  return score < STRENGTH_MIN ? 'guessable' : null;
}

function listWords({ name, email }: Omit<WantedPassword, 'password'>): string[] {
  const parts = [...name.split(/\s+/), ...email.split(/[@.]/)];
  return ['onecode', name, name.replaceAll(/\s+/g, ''), email, ...parts].filter((word) => word.length > 2);
}

/** Returns a salted scrypt hash, in better-auth's format. */
export async function hashPassword(password: string): Promise<string> {
  const { hashPassword: scrypt } = await import('@better-auth/utils/password');
  return scrypt(password);
}
