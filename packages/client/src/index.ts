export { Onecode } from './client.js';
export type {
  CreateSend,
  DeliveryStatus,
  ProblemCode,
  Send,
  SignupSettings,
  Verification,
} from './contract.js';
export { normalizeCode } from './normalizeCode.js';
export { ConnectionError, IndeterminateVerificationError, OnecodeError, ProblemError } from './errors.js';
export type { Fetch, FetchInit, FetchResponse } from './fetch.js';
export type { OnecodeOptions, RequestOptions, SendOptions, VerifyResult, WaitForOptions } from './types.js';
export { addSendId } from './verifyLatest.js';
