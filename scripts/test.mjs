import { runOnSupportedNode } from './node-version.mjs';

/** `npm test`: build, type-check, lint and tests on services of their own; further arguments go to Jest. */
runOnSupportedNode(function () {
  return import('./test/run.mjs').then(function (module) {
    return module.run(process.argv.slice(2));
  });
});
