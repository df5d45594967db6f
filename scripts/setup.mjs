import { runOnSupportedNode } from './node-version.mjs';

/** `node scripts/setup.mjs`: packages and build, and nothing started. */
runOnSupportedNode(function () {
  return import('./setup/run.mjs').then(function (module) {
    return module.run();
  });
});
