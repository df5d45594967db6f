// Old releases of Node must be able to parse this file and run.mjs, which imports it: use no syntax newer than 2019.

/**
 * Returns whether a Node version can run Onecode: 20.19 or newer, 22.12 or newer, or any later release.
 * The limit comes from Prisma: its command loads ES modules with `require`, which older releases do not support.
 * @param {string} version as in process.versions.node, such as '20.19.0'
 * @returns {boolean}
 */
export function isSupportedNode(version) {
  var parts = version.split('.');
  var major = Number(parts[0]);
  var minor = Number(parts[1]);
  if (major === 20) return minor >= 19;
  if (major === 22) return minor >= 12;
  return major > 22;
}

/**
 * Runs a command, or ends the process with one line when Node is too old.
 * @param {() => Promise<unknown>} load loads and runs the command's module; only called on a Node that can read it
 */
export function runOnSupportedNode(load) {
  if (!isSupportedNode(process.versions.node)) {
    console.error(
      'Onecode needs Node 20.19 or newer (22.12 or newer in the 22 line); this is Node ' +
        process.versions.node +
        '.',
    );
    process.exit(1);
  }
  load().catch(function (error) {
    console.error(error && error.name === 'UserError' ? error.message : error);
    process.exit(1);
  });
}
