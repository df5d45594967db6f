/**
 * Returns a set for started resources. Each one that is still in it at the end of the test file is stopped, even if a test failed; outside
 * of Jest, when this process ends. `stop` cannot be asynchronous there.
 */
export function runningUntilEnd<Started>(stop: (one: Started) => void): Set<Started> {
  const running = new Set<Started>();
  const stopAll = (): void => running.forEach(stop);
  if (typeof afterAll === 'function') afterAll(stopAll);
  else process.once('exit', stopAll);
  return running;
}
