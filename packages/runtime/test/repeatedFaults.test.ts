import { mock } from 'node:test';
import { createLog, repeatedFaults } from '@onecode/runtime';

describe('repeatedFaults', () => {
  afterEach(() => mock.reset());

  it('logs a new fault immediately, and an equal one at most once a minute', () => {
    let now = 0;
    mock.method(performance, 'now', () => now);
    const lines: string[] = [];
    const log = createLog('demo', 'error');
    log.error = ({ err }: { err: Error }) => void lines.push(err.message);
    const report = repeatedFaults(log, 'error', 'loop run failed');
    const faults = (text: string, count: number): void => {
      for (let n = 0; n < count; n += 1) report(new Error(text));
    };

    faults('no right', 100);
    faults('away', 1);
    expect(lines).toEqual(['no right', 'away']);
    now = 59_999;
    faults('no right', 1);
    expect(lines).toHaveLength(2);
    now = 60_000;
    faults('no right', 2);
    faults('away', 1);
    expect(lines.slice(2)).toEqual(['no right', 'away']);
  });
});
