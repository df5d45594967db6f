import { readFileSync } from 'node:fs';

/** @typedef {{ passed: number, failed: number, skipped: number }} Summary */

/**
 * What Jest's own result file says. A test file that could not run counts as one failure, and so does a run that ended
 * badly or ran nothing: no line says "0 failed" unless tests ran and all was well.
 * @param {string} resultFile as written by `--json --outputFile`
 * @param {boolean} endedWell whether Jest's exit code was 0
 * @returns {Summary}
 */
export function summarise(resultFile, endedWell) {
  const result = read(resultFile);
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  const well = endedWell && result.numPassedTests > 0;
  return {
    passed: result.numPassedTests,
    failed: well ? failed : Math.max(failed, 1),
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

/** @param {string} file */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {
      numPassedTests: 0,
      numFailedTests: 0,
      numRuntimeErrorTestSuites: 0,
      numPendingTests: 0,
      numTodoTests: 0,
    };
  }
}
