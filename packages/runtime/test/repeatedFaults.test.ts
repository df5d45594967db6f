import { createLog, repeatedFaults } from '@onecode/runtime';
import { until } from '@onecode/testing';

describe('repeatedFaults', () => {
  it('logs a new fault immediately, and its repetitions in one line with their count', async () => {
    const lines: { times?: number; message: string; loop: string }[] = [];
    const log = createLog('demo', 'error');
    log.error = (facts: { err: Error; times?: number; loop: string }) => {
      const { err, loop, times } = facts;
      lines.push({ loop, message: err.message, ...(times !== undefined && { times }) });
    };
    const report = repeatedFaults(log, 'error', 'loop run failed', { loop: 'sweep' }, 2);
    const faults = (text: string, count: number): void => {
      for (let n = 0; n < count; n += 1) report(new Error(text));
    };
    faults('no right', 100);
    faults('away', 1);
    const line = (message: string) => ({ loop: 'sweep', message });
    expect(lines).toEqual([line('no right'), line('away')]);
    await until('a line with the count', () => lines.length > 2);
    expect(lines.slice(2)).toEqual([{ ...line('no right'), times: 99 }]);
    // The fault has ended in the meantime, so its next occurrence is logged as a new one.
    await until('a fault that is new again', () => {
      faults('away', 1);
      return lines.filter(({ message, times }) => message === 'away' && times === undefined).length === 2;
    });
  });
});
