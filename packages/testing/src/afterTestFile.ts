/**
 * Runs `cleanUp` when the test file has ended, also when a test failed half-way; outside Jest, when this process ends. Nothing
 * can be awaited there.
 */
export function afterTestFile(cleanUp: () => void): void {
  if (typeof afterAll === 'function') afterAll(cleanUp);
  else process.once('exit', cleanUp);
}
