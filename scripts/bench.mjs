import { runOnSupportedNode } from './node-version.mjs';

/** `npm run bench [-- NAME … --seconds N …]`: the benchmark's suites, all of them or those named; see docs/performance.md. */
runOnSupportedNode(function () {
  return import('../bench/run.mjs').then(function (module) {
    return module.run(process.argv.slice(2));
  });
});
