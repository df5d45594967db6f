export {
  acceptInvitation,
  deleteOldInvitations,
  findInvitation,
  type Invitation,
  inviteMember,
  listInvitations,
  revokeInvitation,
} from './invitations.js';
export {
  confirmAddressChange,
  confirmSignUp,
  findSignUp,
  requestAddressChange,
  requestPasswordReset,
  requestSignUp,
} from './mailedLinks.js';
export {
  changeMemberRole,
  findMemberRole,
  listMembers,
  listMemberships,
  type Member,
  MEMBER_ROLES,
  type MemberChange,
  type MemberRole,
  removeMember,
} from './members.js';
export {
  createOwnAccount,
  type FirstApplication,
  mayCreateAccount,
  type NewOwnAccount,
} from './ownAccounts.js';
export {
  listPasskeys,
  type Passkey,
  PASSKEY_NAME_LENGTH_MAX,
  removePasskey,
  renamePasskey,
} from './passkeys.js';
export {
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  passwordFault,
  type PasswordFault,
  type WantedPassword,
} from './passwords.js';
export {
  forgetSignInTries,
  returnSignInTry,
  SIGN_IN_TRIES_MAX,
  takeSignInRequest,
  takeSignInTry,
  codeTriesSubject,
  useTwoFactorCode,
} from './signInLimits.js';
export {
  confirmSession,
  findPendingUser,
  logFailedConfirmation,
  logFailedProviderSignIn,
  logFailedSignIn,
  logSignIn,
  logSignOut,
  type Proof,
} from './signInLog.js';
export { returnSignUp, SIGN_UP_TRIES_MAX, takeSignUp } from './signUpLimits.js';
export {
  claimByProvider,
  findPasswordReset,
  hasOtherProof,
  logOwnSecurityChange,
  type OwnSecurityChange,
  removeTwoFactor,
  resetPassword,
  setPassword,
  signOutEverywhere,
} from './userSecurity.js';
export {
  endOtherSessions,
  endSession,
  isSessionConfirmed,
  isSessionOver,
  keepBothFactors,
  listUserSessions,
  SESSION_MS_MAX,
  touchSession,
  type UserSession,
} from './userSessions.js';
export {
  changeUser,
  createUser,
  findUser,
  isStaff,
  listUsers,
  type NewUser,
  randomPassword,
  searchUsers,
  setStaffRole,
  type StaffRole,
  type User,
} from './users.js';
export { LimitReached, type LimitedAction } from './outwardLimits.js';
export { deleteEndedTries } from './countedTries.js';
export { findPendingPasswordHash } from '../mails/links.js';
export { endOvertakenSignIn, findPasswordHash } from './waysIn.js';
export * from './tryouts.js';
