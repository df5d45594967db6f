import { startProcess } from '@onecode/testing';

const PRELOAD = new URL('cluster/clockOffset.mjs', import.meta.url).pathname;
const OFFSET_MS = 300_000;

/** The times in a process with a wrong clock. */
async function clockOf(offsetMs: number) {
  const code = `
    const now = new Date();
    console.log(JSON.stringify({
      now: Date.now(), made: now.getTime(), text: Date.parse(Date()), isDate: now instanceof Date,
      given: new Date(7).getTime(), parsed: Date.parse('1970-01-01T00:00:00.007Z'), uptime: performance.now(),
    }));
    process.exit(0);`;
  const started = startProcess('test/faults/cluster/clockOffset.mjs', {
    CLOCK_OFFSET_MS: String(offsetMs),
    NODE_OPTIONS: `--import ${PRELOAD} --import data:text/javascript,${encodeURIComponent(code)}`,
  });
  await started.exited;
  return JSON.parse(started.stdout()) as Record<string, number>;
}

describe('a process with a wrong clock', () => {
  it.each([OFFSET_MS, -OFFSET_MS])(
    'shifts the current time by %i ms and leaves given times as they are',
    async (offsetMs) => {
      const before = Date.now();
      const clock = await clockOf(offsetMs);
      const after = Date.now();
      for (const now of [clock['now'], clock['made'], Number(clock['text']) + 999]) {
        expect(now).toBeGreaterThanOrEqual(before + offsetMs);
        expect(now).toBeLessThanOrEqual(after + offsetMs + 999);
      }
      expect(clock).toMatchObject({ isDate: true, given: 7, parsed: 7 });
      expect(clock['uptime']).toBeLessThan(after - before);
    },
  );
});
