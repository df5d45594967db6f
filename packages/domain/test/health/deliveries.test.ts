import {
  groupDeliveries,
  hasFewerDeliveries,
  undeliveredShare,
  type Deliveries,
} from '../../src/health/deliveries.js';

const messages = (accepted: number, undelivered: number): Deliveries => ({ accepted, undelivered });

describe('hasFewerDeliveries', () => {
  it.each<[string, Deliveries, Deliveries, boolean]>([
    ['a tenth never arrives, twice as many as before', messages(100, 10), messages(100, 5), true],
    ['less than a tenth never arrives', messages(1_000, 99), messages(1_000, 0), false],
    ['less than twice as many as before never arrive', messages(1_000, 199), messages(1_000, 100), false],
    ['nothing arrives, and almost nothing arrived before', messages(100, 100), messages(100, 90), false],
    ['nothing arrives, and everything arrived before', messages(100, 100), messages(100, 0), true],
    ['too few messages were sent', messages(99, 99), messages(100, 0), false],
    ['too few messages were sent before', messages(100, 100), messages(99, 0), false],
  ])('compares the last day with the week before: %s', (_, lastDay, weekBefore, expected) =>
    expect(hasFewerDeliveries({ lastDay, weekBefore })).toBe(expected),
  );
});

describe('undeliveredShare', () => {
  it('returns null for fewer than 100 messages', () =>
    expect([messages(0, 0), messages(99, 9), messages(100, 9)].map(undeliveredShare)).toEqual([
      null,
      null,
      0.09,
    ]));
});

describe('groupDeliveries', () => {
  it('adds up the messages per country or sender, and sorts by the number of messages', () => {
    const count = (country: string, senderId: string, accepted: number) => ({
      country,
      senderId,
      lastDay: messages(accepted, 1),
      weekBefore: messages(7 * accepted, 2),
    });
    const counts = [count('AR', 'a', 10), count('BR', 'a', 20), count('BR', 'b', 40)];
    const [first, ...others] = groupDeliveries(counts, 'country');
    expect(first).toEqual({ name: 'BR', lastDay: messages(60, 2), weekBefore: messages(420, 4) });
    expect(others.map(({ name }) => name)).toEqual(['AR']);
    expect(groupDeliveries(counts, 'senderId').map(({ name, lastDay }) => [name, lastDay.accepted])).toEqual([
      ['b', 40],
      ['a', 30],
    ]);
  });
});
