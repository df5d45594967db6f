export { Onecode, type RequestOptions } from './client.js';
export type {
  CreateSend,
  DeliveryStatus,
  ProblemCode,
  Send,
  SignupSettings,
  Verification,
} from './contract.js';
export { ConnectionError, IndeterminateVerificationError, OnecodeError, ProblemError } from './errors.js';
export type { Fetch, FetchInit, FetchResponse } from './fetch.js';
export type { OnecodeOptions } from './options.js';
export type { SendOptions } from './send.js';
export type { VerifyResult } from './verify.js';
export type { WaitForOptions } from './waitFor.js';
