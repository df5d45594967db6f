/**
 * What an application does when a recipient's number may have changed hands since they last verified a code: nothing, say so and send
 * all the same, or refuse to send.
 */
export const IDENTITY_CHECKS = ['off', 'observe', 'enforce'] as const;
export type IdentityCheck = (typeof IDENTITY_CHECKS)[number];
