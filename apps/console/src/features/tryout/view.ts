import type { DeliveryState, Mode, Verification } from '@onecode/domain';

/** The same call in one language. */
export interface SampleView {
  label: string;
  code: string;
}

/** What the page shows before anything was sent. */
export interface TryoutView {
  /** A creation with a number that belongs to nobody. */
  samples: SampleView[];
}

/** A request to the API and its answer, as they went over the wire, but for what is hidden: most of the key, and most digits of the number. */
export interface ExchangeView {
  request: MessageView;
  /** Null when none came. */
  answer: MessageView | null;
  /** Why none came: the API was not reached; the connection broke; no answer came in time; it was too large. */
  fault: 'unreachable' | 'broken' | 'timed_out' | 'too_large' | null;
  tookMs: number;
}

export interface MessageView {
  /** The first line. */
  line: string;
  headers: { name: string; value: string }[];
  body: string | null;
}

/** An error of the API. */
export interface ApiProblemView {
  code: string;
  detail: string | null;
  /** Those of the page's fields that the API did not accept. */
  fields: ('to' | 'code')[];
  retryAfterSeconds: number | null;
  /** The page that explains it. */
  docs: string;
}

interface CallView {
  exchange: ExchangeView;
  problem: ApiProblemView | null;
  samples: SampleView[];
}

/** The answer to a creation. */
export interface TryoutSendView extends CallView {
  /** What stands in the request's body in place of the number. */
  hiddenRecipient: string;
  send: TriedSendView | null;
}

/** A send that was created on the page. */
export interface TriedSendView {
  id: string;
  /** Proves that this person created the send here; the calls about it ask for it. */
  proof: string;
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

/** The answer to a look at a send. */
export interface TryoutStatusView extends CallView {
  state: SendStateView | null;
}

/** The answer to a verification. */
export interface TryoutVerifyView extends CallView {
  result: { valid: boolean; verification: Verification; attemptsLeft: number } | null;
}
