/** What an application does if a number's owner may have changed: nothing, report it and send anyway, or refuse. */
export const IDENTITY_CHECKS = ['off', 'observe', 'enforce'] as const;
export type IdentityCheck = (typeof IDENTITY_CHECKS)[number];
