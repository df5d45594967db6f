/** Module loader hooks of `crashPoints.mjs`, which turn the comments of the named crash points into calls. */

const BUILT = /^file:.*\/(?:apps|packages)\/[^/]+\/dist\/.+\.js$/;
const COMMENT = /^([ \t]*)\/\/ crash point: (.+)$/gm;

/** @type {ReadonlySet<string>} */
let named = new Set();

/** @param {string[]} names */
export function initialize(names) {
  named = new Set(names);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!BUILT.test(url) || loaded.source === undefined) return loaded;
  const text = Buffer.from(/** @type {Uint8Array} */ (loaded.source)).toString();
  return {
    ...loaded,
    source: text.replace(COMMENT, (comment, indent, name) =>
      named.has(name) ? `${indent}onecodeCrashPoint(${JSON.stringify(name)});` : comment,
    ),
  };
}
