import type { FaultScope, Outcome } from '@onecode/domain';
import { describeWithReference, reference } from '@onecode/testing';
import { KNOWN_CODES } from '../src/errorTable.js';
import { classifyError, explainError } from '../src/index.js';
import { retryAfterSeconds } from '../src/retryAfter.js';

const classifyCode = (code: number | null, httpStatus: number | null = 400, isTransient = false) =>
  classifyError({ httpStatus, code, subcode: null, isTransient });

type Expected = Omit<Partial<Outcome & { scope: FaultScope; throttled: string }>, 'errorCode'>;

/** Every known code, by what the worker has to do. */
const CODES: Array<[Expected, number[]]> = [
  [{ kind: 'config', scope: 'token' }, [0, 3, 10, 104, 190, 200, 201, 250, 299, 131005]],
  [{ kind: 'config', scope: 'business' }, [368, 131031, 131042, 131044, 131064, 134011]],
  [{ kind: 'config', scope: 'country' }, [130497]],
  [{ kind: 'config', scope: 'app' }, [131030]],
  [
    { kind: 'config', scope: 'request' },
    [100, 131008, 131009, 131047, 131051, 131052, 131053, 131055, 131062, 134100, 134101, 134102],
  ],
  [
    { kind: 'config', scope: 'template' },
    [
      131063, 132000, 132001, 132005, 132007, 132008, 132012, 132015, 132016, 132018, 132068, 132069, 2388019,
      2388039, 2388040, 2388047, 2388072, 2388073, 2388293, 2388299,
    ],
  ],
  [
    { kind: 'sender' },
    [
      33, 131037, 131045, 131048, 131057, 133000, 133005, 133006, 133008, 133009, 133010, 133015, 133016,
      2494100,
    ],
  ],
  [{ kind: 'recipient' }, [130403, 130472, 131021, 131026, 131049, 131050, 137000]],
  [{ kind: 'retry', throttled: 'app' }, [4, 341]],
  [{ kind: 'retry', throttled: 'business' }, [17, 32, 613, 80000, 80007, 80008, 80014]],
  [{ kind: 'retry', throttled: 'sender' }, [130429]],
  [{ kind: 'retry', throttled: 'recipient_window' }, [131056]],
  [{ kind: 'retry', throttled: 'none' }, [1, 2, 131000, 131016, 133004, 135000]],
];

/** About the message alone. */
const isRefusal = ({ kind, scope }: Expected): boolean => kind === 'recipient' || scope === 'request';

describe('every known error code leads to the same action under every HTTP status', () => {
  const rows = CODES.flatMap(([expected, codes]) => codes.map((code) => [code, expected] as const));

  it.each(rows)('%i → %j', (code, expected) => {
    for (const httpStatus of [200, 302, 400, 403, 404, null]) {
      expect(classifyCode(code, httpStatus)).toMatchObject({ ...expected, errorCode: code });
    }
  });

  it.each(rows)(
    '%i → %j, but refuses no message where the provider says that it passes',
    (code, expected) => {
      const passing = isRefusal(expected) ? { kind: 'retry', throttled: 'none' } : expected;
      for (const httpStatus of [408, 425, 500, 503])
        expect(classifyCode(code, httpStatus)).toMatchObject({ ...passing, errorCode: code });
      expect(classifyCode(code, 400, true)).toMatchObject({ ...passing, errorCode: code });
      expect(classifyCode(code, null, true)).toMatchObject({ ...passing, errorCode: code });
      const isOfNobody = isRefusal(expected) || expected.throttled === 'none';
      const throttled = isOfNobody ? { kind: 'retry', throttled: 'sender' } : expected;
      expect(classifyCode(code, 429)).toMatchObject({ ...throttled, errorCode: code });
    },
  );
});

describe('a range of codes ends where it ends', () => {
  it.each([199, 300, 79_999, 80_015])('%i is not in it', (code) => {
    expect(classifyCode(code)).toMatchObject({ kind: 'retry', isRefusal: true, errorCode: code });
  });
});

describe('subcode 33', () => {
  it('turns 100, and nothing else, into a fault of the sender', () => {
    expect(classifyError({ httpStatus: 400, code: 100, subcode: 33, isTransient: false })).toMatchObject({
      kind: 'sender',
    });
    expect(classifyError({ httpStatus: 400, code: 100, subcode: 34, isTransient: false })).toMatchObject({
      kind: 'config',
    });
    expect(classifyError({ httpStatus: 401, code: 190, subcode: 33, isTransient: false })).toMatchObject({
      scope: 'token',
    });
  });
});

describe('an unknown code is judged by the HTTP status', () => {
  it.each<[number | null, Expected]>([
    [400, { kind: 'retry', throttled: 'none' }],
    [429, { kind: 'retry', throttled: 'sender' }],
    [499, { kind: 'retry', throttled: 'none' }],
    [500, { kind: 'retry', throttled: 'none' }],
    [503, { kind: 'retry', throttled: 'none' }],
    [200, { kind: 'unknown' }],
    [302, { kind: 'config', scope: 'token' }],
    [null, { kind: 'recipient' }],
  ])('HTTP %s → %j', (httpStatus, expected) => {
    expect(classifyCode(987_654, httpStatus)).toMatchObject({ ...expected, errorCode: 987_654 });
    if (expected.kind === 'retry')
      expect(classifyCode(987_654, httpStatus, true)).not.toHaveProperty('isRefusal');
  });
});

describe('an answer without a code is judged by the HTTP status', () => {
  it.each<[number | null, Expected]>([
    [200, { kind: 'unknown' }],
    [204, { kind: 'unknown' }],
    [302, { kind: 'config', scope: 'token' }],
    [400, { kind: 'retry', throttled: 'none' }],
    [401, { kind: 'config', scope: 'token' }],
    [403, { kind: 'config', scope: 'token' }],
    [404, { kind: 'config', scope: 'token' }],
    [408, { kind: 'unknown' }],
    [425, { kind: 'retry', throttled: 'none' }],
    [429, { kind: 'retry', throttled: 'sender' }],
    [500, { kind: 'unknown' }],
    [502, { kind: 'unknown' }],
    [599, { kind: 'unknown' }],
    [null, { kind: 'recipient' }],
  ])('HTTP %s → %j', (httpStatus, expected) => {
    expect(classifyCode(null, httpStatus)).toMatchObject({ ...expected, errorCode: null });
  });
});

interface Row {
  code: number | string;
  http: number | null;
  action: string;
  scope: string;
}

const SCOPES: Record<string, FaultScope> = {
  token: 'token',
  waba: 'business',
  'waba+country': 'country',
  request: 'request',
  template: 'template',
  'template+language': 'template',
  app: 'app',
};
const THROTTLED: Record<string, string> = {
  app: 'app',
  waba: 'business',
  phone: 'sender',
  pair: 'recipient_window',
};

describeWithReference('the reference table of error codes', () => {
  const rows = JSON.parse(reference('error-codes.json') || '[]') as Row[];

  it('has 76 rows', () => expect(rows).toHaveLength(76));

  it('leads to the action and scope of each row', () => {
    for (const { code, http, action, scope } of rows) {
      for (const number of code === '200-299' ? [200, 201, 298, 299] : [Number(code)]) {
        // Treated otherwise: its note allows retries before an alert; and what comes with a 5xx refuses no message.
        const passes = number === 135000 || (http !== null && http >= 500 && scope === 'request');
        const kind = passes ? 'retry' : action;
        const expected: Expected =
          kind === 'config'
            ? { kind, scope: SCOPES[scope]! }
            : kind === 'retry'
              ? { kind, throttled: THROTTLED[scope] ?? 'none' }
              : { kind: kind as 'sender' | 'recipient' };
        expect(classifyCode(number, http)).toMatchObject({ ...expected, errorCode: number });
      }
    }
  });

  it('is covered in full by the table of this file', () => {
    const ours = new Set(CODES.flatMap(([, codes]) => codes));
    const theirs = rows.map(({ code }) => (code === '200-299' ? 299 : Number(code)));
    expect(theirs.filter((code) => !ours.has(code))).toEqual([]);
  });
});

const kindOf = (code: number) => classifyCode(code).kind;

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

const NOW = Date.parse('2026-01-01T00:00:00Z');
const usage = (...minutes: unknown[]) =>
  JSON.stringify({
    '1022': minutes.map((estimated_time_to_regain_access) => ({ estimated_time_to_regain_access })),
  });

describe('the wait that a provider asks for', () => {
  it.each<[string, number | null]>([
    ['0', 0],
    ['30', 30],
    ['999999999999999999999', 3_600],
    ['Thu, 01 Jan 2026 00:00:20 GMT', 20],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 3_600],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['2026-01-01', null],
    ['Thu, 99 Foo 2026 00:00:20 GMT', null],
    ['', null],
  ])('Retry-After: %s → %s', (value, expected) => {
    expect(retryAfterSeconds({ 'retry-after': value }, NOW)).toBe(expected);
  });

  it.each<[string, number | null]>([
    [usage(2), 120],
    [usage(0, 3, 1), 180],
    [usage(0), null],
    [usage(100_000), 3_600],
    [usage('2', null, -1, {}), null],
    ['{', null],
    ['[]', null],
    ['null', null],
  ])('X-Business-Use-Case-Usage: %s → %s', (value, expected) => {
    expect(retryAfterSeconds({ 'x-business-use-case-usage': value }, NOW)).toBe(expected);
  });

  it('is taken from Retry-After before anything else', () => {
    const headers = { 'retry-after': '5', 'x-business-use-case-usage': usage(2) };
    expect(retryAfterSeconds(headers, NOW)).toBe(5);
  });

  it('is null when nothing is said', () => {
    expect(retryAfterSeconds({}, NOW)).toBeNull();
  });
});
