import { runOnSupportedNode } from './node-version.mjs';

/** `npm run test:faults [-- --seed N --minutes M --only TEXT --write-docs]`: the fault suite in its full length. */
runOnSupportedNode(function () {
  return import('./faults/run.mjs').then(function (module) {
    return module.run(process.argv.slice(2));
  });
});
