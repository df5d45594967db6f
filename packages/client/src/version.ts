/** The version of package.json, which a test compares; `npm run release` writes both. */
export const VERSION = '1.0.0';
