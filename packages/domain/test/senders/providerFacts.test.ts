import fc from 'fast-check';
import {
  mergeFacts,
  parseMessagingLimit,
  senderBlock,
  templateBlock,
  type BusinessAccountValues,
  type Fact,
  type Facts,
  type NumberValues,
  type TemplateValues,
} from '../../src/index.js';

const at = (seconds: number): Date => new Date(1_763_629_200_000 + seconds * 1000);
const fact = <V>(value: V, seconds = 0): Fact<V> => ({
  value,
  at: at(seconds).toISOString(),
  since: at(seconds).toISOString(),
});

describe('mergeFacts', () => {
  it.each([
    ['replaces a fact by a later report', 1, 1.001, 'NEW'],
    ['replaces a fact by a report of the same time that arrives later', 1, 1, 'NEW'],
    ['keeps a fact despite an earlier report', 1, 0.999, 'KNOWN'],
  ])('%s', (_, knownAt, seconds, expected) => {
    const known: Facts<TemplateValues> = { status: fact('KNOWN', knownAt) };
    const { status } = mergeFacts<TemplateValues>(known, { status: 'NEW' }, at(seconds));
    expect(status?.value).toBe(expected);
  });

  it('keeps the time of the first report while later reports repeat the value', () => {
    const first = mergeFacts<TemplateValues>({}, { status: 'PAUSED', reason: null }, at(1));
    const read = mergeFacts(first, { status: 'PAUSED', reason: null }, at(600));
    expect(read.status).toEqual({
      value: 'PAUSED',
      at: at(600).toISOString(),
      since: at(1).toISOString(),
    });
    const resumed = mergeFacts(read, { status: 'APPROVED' }, at(1_200));
    expect(resumed.status?.since).toBe(at(1_200).toISOString());
  });

  it('returns the same facts for reports of different seconds in any order and number', () => {
    const reports = fc.uniqueArray(
      fc.record({
        seconds: fc.nat(50),
        values: fc.record({ status: fc.string(), quality: fc.string() }, { requiredKeys: [] }),
      }),
      { selector: ({ seconds }) => seconds },
    );
    // Excludes `since`, which depends on the order: it is the time of the first report that arrived.
    const withoutStarts = (facts: Facts<TemplateValues>) =>
      Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, { ...fact, since: null }]));
    const end = (order: { seconds: number; values: Partial<TemplateValues> }[]) =>
      withoutStarts(
        order.reduce<Facts<TemplateValues>>(
          (known, { values, seconds }) => mergeFacts(known, values, at(seconds)),
          {},
        ),
      );
    fc.assert(
      fc.property(
        reports.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 })),
        ),
        ([all, shuffled]) => {
          expect(end(shuffled)).toEqual(end(all.toSorted((a, b) => a.seconds - b.seconds)));
        },
      ),
    );
  });
});

describe('templateBlock', () => {
  it.each(['PAUSED', 'DISABLED', 'REJECTED', 'ARCHIVED', 'DELETED', 'PENDING', 'PENDING_DELETION'])(
    'blocks a template that is %s',
    (status) => {
      const facts = { status: fact(status), reason: fact('FIRST_PAUSE') };
      expect(templateBlock(facts)).toBe(`${status} (FIRST_PAUSE)`);
    },
  );

  it('blocks a template in another category', () => {
    const facts = { status: fact('APPROVED'), category: fact('UTILITY') };
    expect(templateBlock(facts)).toBe('category UTILITY');
  });

  it.each<[string, Facts<TemplateValues>]>([
    ['approved', { status: fact('APPROVED'), category: fact('AUTHENTICATION') }],
    ['in an unknown status', { status: fact('SPARKLING') }],
    ['not yet known', {}],
  ])('does not block a template that is %s', (_, facts) => {
    expect(templateBlock(facts)).toBeNull();
  });
});

describe('senderBlock', () => {
  const can = (value: 'AVAILABLE' | 'BLOCKED', seconds: number) =>
    fact({ can: value, why: value === 'BLOCKED' ? 'no payment method' : null }, seconds);

  it.each<[string, Facts<NumberValues>, Facts<BusinessAccountValues>]>([
    ['its account was disconnected', {}, { refusal: fact('ACCOUNT_OFFBOARDED') }],
    ['a read reports that it may not send', { canSend: can('BLOCKED', 0) }, {}],
    [
      'its account was banned after the last read',
      { canSend: can('AVAILABLE', 4) },
      { refusal: fact('DISABLED_UPDATE', 5) },
    ],
    [
      'its account was banned at the time of the last read',
      { canSend: can('AVAILABLE', 5) },
      { refusal: fact('DISABLED_UPDATE', 5) },
    ],
  ])('blocks a sender when %s', (_, number, account) => {
    expect(senderBlock(number, account)).not.toBeNull();
  });

  it.each<[string, Facts<BusinessAccountValues>]>([
    ['was connected again', { refusal: fact(null) }],
    ['is unknown', {}],
  ])('does not block a sender when its account %s', (_, account) => {
    expect(senderBlock({}, account)).toBeNull();
  });

  it('does not block a sender that can send after its account was banned', () => {
    const account = { refusal: fact('DISABLED_UPDATE', 5) };
    expect(senderBlock({ canSend: can('AVAILABLE', 6) }, account)).toBeNull();
  });

  it('does not block a sender when an event ends the state that a read found', () => {
    expect(senderBlock({ canSend: can('BLOCKED', 5) }, { refusal: fact(null, 6) })).toBeNull();
    expect(senderBlock({ canSend: can('BLOCKED', 5) }, { refusal: fact(null, 4) })).toBe('no payment method');
  });
});

describe('messaging limits', () => {
  it.each([
    ['TIER_250', 250],
    ['TIER_100K', 100_000],
    ['TIER_UNLIMITED', Infinity],
    ['TIER_NEW', null],
    [undefined, null],
  ])('parseMessagingLimit(%s) returns %s', (name, most) => {
    expect(parseMessagingLimit(name)).toBe(most);
  });
});
