/** The version in package.json, which a test compares; `npm run release` writes both. */
export const VERSION = '0.9.0';
