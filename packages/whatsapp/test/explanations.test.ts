import type { AttemptOutcome } from '@onecode/domain';
import { ERROR_TABLE } from '../src/errorTable.js';
import { explainError } from '../src/index.js';

const OUTCOMES: AttemptOutcome[] = ['accepted', 'retry', 'unknown', 'sender', 'recipient', 'config'];

describe('every code that the provider is known to give', () => {
  it.each([...ERROR_TABLE.keys()])('%i is explained in both languages, in words of its own', (code) => {
    const outcome = ERROR_TABLE.get(code)!(code).kind;
    const [english, portuguese] = [explainError(code, outcome, 'en'), explainError(code, outcome, 'pt-BR')];
    expect(portuguese.meaning).not.toBe(english.meaning);
    expect(portuguese.remedy).not.toBe(english.remedy);
    expect(portuguese.whose).toBe(english.whose);
    // Not the fallback of its class: the code has a meaning of its own.
    expect(english.meaning).not.toBe(explainError(null, outcome, 'en').meaning);
    expect(portuguese.meaning).not.toBe(explainError(null, outcome, 'pt-BR').meaning);
  });
});

describe('what no code explains', () => {
  it.each(OUTCOMES)('is told by how the attempt ended: %s', (outcome) => {
    for (const language of ['en', 'pt-BR'] as const) {
      const known = explainError(null, outcome, language);
      expect(known.meaning).not.toBe('');
      expect(known.remedy).not.toBe('');
      for (const code of [-1, 5, 999_999, Number.MAX_SAFE_INTEGER])
        expect(explainError(code, outcome, language)).toEqual(known);
    }
  });

  it('differs from one end to another', () => {
    const meanings = OUTCOMES.map((outcome) => explainError(null, outcome, 'en').meaning);
    expect(new Set(meanings).size).toBe(OUTCOMES.length);
  });
});

describe('a code of several meanings', () => {
  it('100 of a sender is told apart from 100 of a request', () => {
    expect(explainError(100, 'sender', 'en').meaning).not.toBe(explainError(100, 'config', 'en').meaning);
  });

  it.each([201, 250, 299])('%i is a permission like 200', (code) => {
    expect(explainError(code, 'config', 'en')).toEqual(explainError(200, 'config', 'en'));
  });
});

describe('whose turn it is', () => {
  it.each([
    [131026, 'recipient'],
    [130403, 'us'],
    [131049, 'nobody'],
    [190, 'us'],
    [131048, 'us'],
    [131057, 'provider'],
    [131000, 'provider'],
    [130429, 'us'],
  ])('%i: %s', (code, whose) => {
    // As a receipt reports it, whatever the code is.
    expect(explainError(code, 'recipient', 'en').whose).toBe(whose);
  });
});
