/**
 * What a test file has started and not ended: each is stopped when the file has ended, also when a test failed half-way; outside
 * Jest, when this process ends. Nothing can be awaited there.
 */
export function runningUntilEnd<Started>(stop: (one: Started) => void): Set<Started> {
  const running = new Set<Started>();
  const stopAll = (): void => running.forEach(stop);
  if (typeof afterAll === 'function') afterAll(stopAll);
  else process.once('exit', stopAll);
  return running;
}
