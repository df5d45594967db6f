import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/**
 * A preload (`NODE_OPTIONS=--import …`): ids that a process makes end with HOME_DIGIT, which names its home. It changes the one line of
 * the built `newId` that a split would change; 70 random bits are left.
 */
const FILE = /\/packages\/store\/dist\/client\/ids\.js$/;
const LINE = 'return uuidv7();';
let digit = '';

/** @param {string} home */
export function initialize(home) {
  digit = home;
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!FILE.test(url)) return loaded;
  const text = Buffer.from(/** @type {Uint8Array} */ (loaded.source)).toString();
  if (!text.includes(LINE)) throw new Error('newId is not what it was.');
  return { ...loaded, source: text.replace(LINE, `return uuidv7().slice(0, -1) + '${digit}';`) };
}

// The loader's own thread loads this file as well.
if (isMainThread) register(import.meta.url, { data: process.env['HOME_DIGIT'] });
