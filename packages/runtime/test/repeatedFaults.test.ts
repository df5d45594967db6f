import { mock } from 'node:test';
import { createLog, repeatedFaults } from '@onecode/runtime';

describe('repeatedFaults', () => {
  afterEach(() => mock.reset());

  it('logs a new fault immediately, and an equal one at most once a minute, with its count', () => {
    let now = 0;
    mock.method(performance, 'now', () => now);
    const lines: { times?: number; message: string }[] = [];
    const log = createLog('demo', 'error');
    log.error = ({ err, times }: { err: Error; times?: number }) => {
      lines.push({ message: err.message, ...(times !== undefined && { times }) });
    };
    const report = repeatedFaults(log, 'error', 'loop run failed');
    const faults = (text: string, count: number): void => {
      for (let n = 0; n < count; n += 1) report(new Error(text));
    };
    const line = (message: string) => ({ message });

    faults('no right', 100);
    faults('away', 1);
    expect(lines).toEqual([line('no right'), line('away')]);
    now = 59_999;
    faults('no right', 1);
    expect(lines).toHaveLength(2);
    now = 60_000;
    faults('no right', 2);
    faults('away', 1);
    expect(lines.slice(2)).toEqual([{ ...line('no right'), times: 101 }, line('away')]);
  });
});
