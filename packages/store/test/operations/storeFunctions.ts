/** All exports of the package. */
export * from '@onecode/store/accounts';
export * from '@onecode/store/client';
export * from '@onecode/store/holds';
export * from '@onecode/store/mails';
export * from '@onecode/store/operations';
export * from '@onecode/store/reports';
export * from '@onecode/store/senders';
export * from '@onecode/store/sends';
export * from '@onecode/store/users';
