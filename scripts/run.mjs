import { runOnSupportedNode } from './node-version.mjs';

/** `npm start`: everything on this machine, from a fresh clone to a running demonstration. */
runOnSupportedNode(function () {
  return import('./start/run.mjs').then(function (module) {
    return module.run();
  });
});
