import { startLoop } from '@onecode/runtime';
import { until } from '@onecode/testing';

const HOUR_MS = 3_600_000;
const unexpected = (error: unknown): void => {
  throw error;
};

it('runs round after round, and never two at a time', async () => {
  let rounds = 0;
  let underWay = 0;
  let underWayMax = 0;
  const loop = startLoop(
    async () => {
      underWay += 1;
      underWayMax = Math.max(underWayMax, underWay);
      await new Promise(setImmediate);
      rounds += 1;
      underWay -= 1;
    },
    0,
    unexpected,
  );
  await until('20 rounds', () => rounds >= 20);
  await loop.stop();
  expect(underWayMax).toBe(1);
  const roundsAtStop = rounds;
  await new Promise(setImmediate);
  expect(rounds).toBe(roundsAtStop);
});

it('pauses between rounds', async () => {
  let rounds = 0;
  const ends: number[] = [];
  const starts: number[] = [];
  const loop = startLoop(
    async () => {
      starts.push(performance.now());
      rounds += 1;
      ends.push(performance.now());
    },
    100,
    unexpected,
  );
  await until('3 rounds', () => rounds >= 3);
  await loop.stop();
  // Timers may be a millisecond early.
  expect((starts[1] ?? 0) - (ends[0] ?? 0)).toBeGreaterThanOrEqual(98);
});

it('reports a round that fails and goes on', async () => {
  const errors: unknown[] = [];
  let rounds = 0;
  const loop = startLoop(
    async () => {
      rounds += 1;
      if (rounds === 1) throw new Error('first');
    },
    0,
    (error) => errors.push(error),
  );
  await until('3 rounds', () => rounds >= 3);
  await loop.stop();
  expect(errors).toEqual([new Error('first')]);
});

it('stops at once in a pause', async () => {
  let rounds = 0;
  const loop = startLoop(
    async () => {
      rounds += 1;
    },
    HOUR_MS,
    unexpected,
  );
  await until('a round', () => rounds === 1);
  await loop.stop();
  expect(rounds).toBe(1);
});

it('waits for the round under way when it stops, and begins no other', async () => {
  const events: string[] = [];
  let finish = (): void => {};
  const loop = startLoop(
    async () => {
      events.push('began');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      events.push('ended');
    },
    0,
    unexpected,
  );
  await until('the first event', () => events.length === 1);
  const stopped = loop.stop().then(() => events.push('stopped'));
  await new Promise(setImmediate);
  expect(events).toEqual(['began']);
  finish();
  await stopped;
  expect(events).toEqual(['began', 'ended', 'stopped']);
});
