/** The version in package.json. A test compares them; `npm run release` writes both. */
export const VERSION = '0.9.0';
