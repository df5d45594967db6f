import type { DeliveryState, Mode, Verification } from '@onecode/domain';

/** The same call in one language. */
export interface SampleView {
  label: string;
  code: string;
}

/** The page's calls in several languages; the calls about a send are included when there is one. */
export interface TryoutView {
  /** The number in the samples, to which the account may send: E.164. */
  recipient: string;
  samples: { call: 'createSend' | 'getSendStatus' | 'verifyCode'; samples: SampleView[] }[];
}

/** A call to the API: its request and response as text, with most of the key and of the number's digits hidden. */
export interface CallView {
  request: string;
  /** Null without a response. */
  answer: string | null;
  /** Why there is no response: nothing was sent, or the request may have been carried out. */
  fault: 'unreachable' | 'unanswered' | null;
  tookMs: number;
  problem: ApiProblemView | null;
}

export interface ApiProblemView {
  code: string;
  detail: string | null;
  /** The fields that the API did not accept. */
  fields: string[];
  retryAfterSeconds: number | null;
  /** The page that explains it, if the API links one. */
  docs: string | null;
}

export interface TryoutSendView {
  call: CallView;
  send: TriedSendView | null;
}

/** A send that was created on the page. */
export interface TriedSendView {
  id: string;
  mode: Mode;
  /** The code of a test send; null for a live one. */
  code: string | null;
  state: SendStateView;
}

export interface SendStateView {
  status: DeliveryState;
  verification: Verification;
  expiresAt: string;
}

export interface TryoutStatusView {
  call: CallView;
  state: SendStateView | null;
}

export interface TryoutVerifyView {
  call: CallView;
  result: { valid: boolean; verification: Verification; attemptsLeft: number } | null;
}
