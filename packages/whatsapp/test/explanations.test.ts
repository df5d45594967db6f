import { KNOWN_CODES } from '../src/errorTable.js';
import { classifyError, explainError } from '../src/index.js';

const kindOf = (code: number) => classifyError({ httpStatus: 400, code, subcode: null }).kind;

describe('an error in plain words', () => {
  it('has a meaning of its own for every known code, by whose name translations go', () => {
    expect(KNOWN_CODES.length).toBeGreaterThan(70);
    const meanings = KNOWN_CODES.map((code) => {
      const { meaning } = explainError(code, kindOf(code));
      expect(meaning.name).toBe(String(code));
      return meaning.english;
    });
    expect(new Set(meanings).size).toBe(meanings.length);
  });

  it('is told by how the attempt ended where no code explains it', () => {
    const meanings = (['retry', 'unknown', 'sender', 'recipient', 'config'] as const).map((outcome) => {
      const known = explainError(null, outcome);
      expect(known.meaning.name).toBe(outcome);
      for (const code of [-1, 5, 999_999, Number.MAX_SAFE_INTEGER])
        expect(explainError(code, outcome)).toEqual(known);
      return known.meaning.english;
    });
    expect(new Set(meanings).size).toBe(meanings.length);
  });

  it('tells 100 of a sender apart from 100 of a request', () => {
    expect(explainError(100, 'sender').meaning.name).toBe('unknown_sender');
    expect(explainError(100, 'config').meaning.name).toBe('100');
  });

  it.each([201, 250, 299])('takes %i for a permission like 200', (code) => {
    expect(explainError(code, 'config')).toMatchObject({ remedy: { name: 'permissions' }, owner: 'us' });
  });

  it.each([
    [131026, 'recipient'],
    [130403, 'us'],
    [131049, 'nobody'],
    [190, 'us'],
    [131048, 'us'],
    [131057, 'provider'],
    [131000, 'provider'],
    [130429, 'us'],
  ])('of %i says who can act, as a receipt reports it: %s', (code, owner) => {
    expect(explainError(code, 'recipient').owner).toBe(owner);
  });
});
