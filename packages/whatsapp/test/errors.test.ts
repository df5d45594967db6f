import type { FaultScope, Outcome } from '@onecode/domain';
import { describeWithReference, reference } from '@onecode/testing';
import { classifyError, explainError, KNOWN_ERRORS } from '../src/index.js';

const classifyCode = (code: number | null, httpStatus: number | null = 400, isTransient = false) =>
  classifyError(httpStatus, { code, is_transient: isTransient });

type Expected = Omit<Partial<Outcome & { scope: FaultScope; throttled: string }>, 'errorCode'>;

/** Every known code, by the expected failure. */
const CODES: Array<[Expected, number[]]> = [
  [{ kind: 'config', scope: 'token' }, [0, 3, 10, 102, 104, 190, 200, 201, 250, 299, 131005]],
  [{ kind: 'config', scope: 'business' }, [368, 131031, 131042, 131044, 131064, 134011]],
  [{ kind: 'config', scope: 'country' }, [130497]],
  [{ kind: 'config', scope: 'app' }, [131030]],
  [{ kind: 'config', scope: 'request' }, [100, 131008, 131009, 131047, 131051, 131062]],
  [
    { kind: 'config', scope: 'template' },
    [
      131063, 132000, 132001, 132005, 132007, 132008, 132012, 132015, 132016, 132018, 2388019, 2388039,
      2388040, 2388047, 2388072, 2388073, 2388293, 2388299, 2388000, 2388999,
    ],
  ],
  [
    { kind: 'sender' },
    [
      33, 803, 131037, 131045, 131048, 131057, 133000, 133005, 133006, 133008, 133009, 133010, 133015, 133016,
      2494100,
    ],
  ],
  [{ kind: 'recipient' }, [130403, 130472, 131021, 131026, 131049, 131050, 137000]],
  [{ kind: 'retry', throttled: 'business' }, [4, 341, 17, 32, 613, 80000, 80007, 80008, 80014]],
  [{ kind: 'retry', throttled: 'sender' }, [130429]],
  [{ kind: 'retry', throttled: 'pair' }, [131056]],
  [{ kind: 'retry', throttled: 'none' }, [1, 2, 131000, 131016, 133004, 135000]],
];

/** Returns whether a failure concerns only the message. */
const isRefusal = ({ kind, scope }: Expected): boolean => kind === 'recipient' || scope === 'request';

describe('classifyError with a known code', () => {
  const rows = CODES.flatMap(([expected, codes]) => codes.map((code) => [code, expected] as const));

  it.each(rows)('classifies %i as %j with every HTTP status', (code, expected) => {
    for (const httpStatus of [200, 302, 400, 403, 404, null]) {
      expect(classifyCode(code, httpStatus)).toMatchObject({ ...expected, errorCode: code });
    }
  });

  it.each(rows)(
    'classifies %i as %j, or as `retry` if only the message is refused and the provider marks the error as temporary',
    (code, expected) => {
      const passing = isRefusal(expected) ? { kind: 'retry', throttled: 'none' } : expected;
      for (const httpStatus of [408, 425, 500, 503])
        expect(classifyCode(code, httpStatus)).toMatchObject({ ...passing, errorCode: code });
      expect(classifyCode(code, 400, true)).toMatchObject({ ...passing, errorCode: code });
      expect(classifyCode(code, null, true)).toMatchObject({ ...passing, errorCode: code });
      const isSlowedBy429 = isRefusal(expected) || expected.throttled === 'none';
      const throttled = isSlowedBy429 ? { kind: 'retry', throttled: 'sender' } : expected;
      expect(classifyCode(code, 429)).toMatchObject({ ...throttled, errorCode: code });
    },
  );
});

describe('code ranges', () => {
  it.each([199, 300, 79_999, 80_015, 2_387_999, 2_389_000])('exclude %i', (code) => {
    expect(classifyCode(code)).toMatchObject({ kind: 'retry', throttled: 'none', errorCode: code });
  });
});

describe('subcodes', () => {
  it('give only code 100 another meaning', () => {
    const classify = (httpStatus: number, code: number, subcode: number) =>
      classifyError(httpStatus, { code, error_subcode: subcode });
    expect(classify(400, 100, 33)).toMatchObject({ kind: 'sender' });
    for (const other of [34, 2_387_999, 2_389_000, 2_494_010, 2_494_100])
      expect(classify(400, 100, other)).toMatchObject({ kind: 'config', scope: 'request' });
    expect(classify(400, 100, 2388072)).toMatchObject({ kind: 'config', scope: 'template' });
    expect(classify(401, 190, 33)).toMatchObject({ scope: 'token' });
    expect(classify(401, 190, 2388072)).toMatchObject({ scope: 'token' });
  });
});

const RETRY = { kind: 'retry', throttled: 'none' } as const;
const SLOWER = { kind: 'retry', throttled: 'sender' } as const;
const BROKEN = { kind: 'config', scope: 'token' } as const;
const UNKNOWN = { kind: 'unknown' } as const;
const RECIPIENT = { kind: 'recipient' } as const;

describe('classifyError without a known code', () => {
  it.each<[number | null, withoutCode: Expected, withUnknownCode: Expected]>([
    [200, UNKNOWN, UNKNOWN],
    [204, UNKNOWN, UNKNOWN],
    [302, BROKEN, RETRY],
    [400, RETRY, RETRY],
    [401, BROKEN, RETRY],
    [403, BROKEN, RETRY],
    [404, BROKEN, RETRY],
    [408, UNKNOWN, RETRY],
    [425, RETRY, RETRY],
    [429, SLOWER, SLOWER],
    [500, UNKNOWN, RETRY],
    [503, SLOWER, RETRY],
    [599, UNKNOWN, RETRY],
    [null, RECIPIENT, RECIPIENT],
  ])(
    'classifies HTTP %s as %j, and as %j with an unknown code',
    (httpStatus, withoutCode, withUnknownCode) => {
      expect(classifyCode(null, httpStatus)).toMatchObject({ ...withoutCode, errorCode: null });
      expect(classifyCode(987_654, httpStatus)).toMatchObject({ ...withUnknownCode, errorCode: 987_654 });
    },
  );
});

/** Codes of flows, media and the Marketing Messages API, which Onecode never calls. */
const NEVER_CALLED = new Set([131052, 131053, 131055, 132068, 132069, 134100, 134101, 134102]);

describeWithReference('the reference table of error codes', () => {
  it('contains no other codes than this file, except those of features that Onecode never calls', () => {
    const rows = JSON.parse(reference('error-codes.json') || '[]') as { code: number | string }[];
    expect(rows).toHaveLength(76);
    const ours = new Set(CODES.flatMap(([, codes]) => codes));
    const theirs = rows.map(({ code }) => (code === '200-299' ? 299 : Number(code)));
    expect(new Set(theirs.filter((code) => !ours.has(code)))).toEqual(NEVER_CALLED);
  });
});

describe('explainError', () => {
  it('returns an explanation for each known error, which no other error has', () => {
    expect(KNOWN_ERRORS.length).toBeGreaterThan(25);
    const meanings = new Set(KNOWN_ERRORS.map(({ fault }) => fault.reason));
    expect(meanings.size).toBe(KNOWN_ERRORS.length);
    for (const [, codes] of CODES)
      for (const code of codes) {
        const { kind } = classifyCode(code) as { kind: 'retry' };
        const { name, meaning } = explainError(code, kind);
        expect(meanings).toContain(meaning);
        expect(explainError(Number(name) || null, kind)).toMatchObject({ name, meaning });
      }
  });

  it('returns the meaning of the outcome if the code is unknown', () => {
    const names = (['retry', 'unknown', 'recipient', 'config'] as const).map((outcome) => {
      const known = explainError(null, outcome);
      for (const code of [-1, 5, 999_999, Number.MAX_SAFE_INTEGER])
        expect(explainError(code, outcome)).toEqual(known);
      return known.name;
    });
    expect(names).toEqual(['131000', 'unknown', 'recipient', 'config']);
  });

  it('distinguishes the code 100 of a sender from the code 100 of a request', () => {
    expect(explainError(100, 'sender').name).toBe('33');
    expect(explainError(100, 'config').name).toBe('100');
  });

  it('distinguishes the code 135000 of a held message from other messages', () => {
    expect(explainError(135000, 'config').name).toBe('portfolio_held');
    expect(explainError(135000, 'retry').name).toBe('131000');
  });

  it.each([201, 250, 299])('explains %i as a missing permission, like 200', (code) => {
    expect(explainError(code, 'config')).toMatchObject({ name: '200' });
  });

  it.each<[number | null, 'retry' | 'unknown' | 'sender' | 'recipient' | 'config', boolean]>([
    [190, 'config', true],
    [130429, 'retry', true],
    [130403, 'recipient', false],
    [131048, 'recipient', true],
    [null, 'sender', true],
    [131026, 'recipient', false],
    [131049, 'recipient', false],
    [131057, 'recipient', true],
    [131056, 'retry', false],
    [131000, 'retry', false],
    [null, 'unknown', false],
  ])(
    'returns whether only operators can follow the remedy of %s with the outcome %s: %s',
    (code, outcome, expected) => {
      expect(explainError(code, outcome).isForOperator).toBe(expected);
    },
  );
});
