import { existsSync } from 'node:fs';
import { join } from 'node:path';

const IN_PACKAGE = /[\\/]node_modules[\\/]/;

/**
 * Finds a module as Jest does, and `./name.js` at `name.ts` where that is what there is. As an entry of `moduleNameMapper`, which knows
 * only the specifier, this looked for TypeScript beside each of the two thousand modules of our dependencies, and Jest keeps no answer.
 *
 * @param {string} specifier
 * @param {{ basedir: string, defaultResolver: (specifier: string, options: object) => string }} options
 * @returns {string} the file
 */
export default function resolve(specifier, options) {
  if (specifier.startsWith('.') && specifier.endsWith('.js') && !IN_PACKAGE.test(options.basedir)) {
    const source = join(options.basedir, `${specifier.slice(0, -'.js'.length)}.ts`);
    if (existsSync(source)) return source;
  }
  return options.defaultResolver(specifier, options);
}
