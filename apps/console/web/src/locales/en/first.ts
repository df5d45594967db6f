import auth from './auth.json';
import common from './common.json';

/** The texts of the sign-in page, which opens first. */
export const en = { auth, common };
