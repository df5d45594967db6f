import './closed-output.mjs';
import { runOnSupportedNode } from './node-version.mjs';

/**
 * `node scripts/run.mjs COMMAND [arguments]`: what package.json's scripts start.
 *
 * start  everything on this machine, from a fresh clone to a running demonstration
 * setup  packages and build, and nothing started
 * test   build, type check, fast lint rules and tests on services of their own; --all adds the rest; further arguments go to Jest, and with the
 *        name of a test file there is no type check and no lint
 * services  the services of tests, kept for many runs of npx jest FILE
 * bench  the benchmark's suites, all of them or those named [NAME … --seconds N …]; see docs/performance.md
 *
 * An old Node must be able to parse this file: see node-version.mjs.
 */
/** @type {Record<string, string>} */
var modules = {
  start: './start/start.mjs',
  setup: './checkout.mjs',
  test: './test/test.mjs',
  services: './test/services.mjs',
  bench: '../bench/run.mjs',
};

runOnSupportedNode(function () {
  var module = modules[process.argv[2] || ''];
  if (module === undefined) {
    console.error('One of these is expected: ' + Object.keys(modules).join(', '));
    process.exit(1);
  }
  return import(module).then(function (loaded) {
    return loaded.run(process.argv.slice(3));
  });
});
