/** What an application does when a number may have changed hands: nothing, say so and send all the same, or refuse. */
export const IDENTITY_CHECKS = ['off', 'observe', 'enforce'] as const;
export type IdentityCheck = (typeof IDENTITY_CHECKS)[number];
