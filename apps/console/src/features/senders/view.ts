import {
  ACCESS_TOKEN,
  isBlocking,
  isNew,
  SENDER_PATTERNS,
  SENDER_TEMPLATE_INITIAL,
  SENDER_THROUGHPUT,
  senderState,
  activeBlock,
  type Block,
  type DeliveryGroup,
  type HeldMessages,
} from '@onecode/domain';
import type { SenderPolicy } from '@onecode/store/accounts';
import type { SenderActivity } from '@onecode/store/reports';
import type { ListedSender } from '@onecode/store/senders';
import { explainError, type Explanation } from '@onecode/whatsapp';
import type { SetupStep } from '@onecode/whatsapp/setup';
import type { Json } from '../../http/json.js';
import type { providerView } from './providerView.js';

/** A sender; its access token never leaves the store. */
export type SenderView = Json<ReturnType<typeof senderView>>;

/** Failed calls of a sender in the last hour, by outcome and error code, with the meaning of the code and the remedy. */
export type SenderErrorView = SenderView['errors'][number];

export interface SendersView {
  /** Oldest first. */
  senders: SenderView[];
  rules: SenderRulesView;
  /** The senders that the account uses; null for staff, who see the senders of all accounts. */
  policy: SenderPolicy | null;
  /** The URL to which Meta apps post. The app of a sender's own business posts to the sender's id below it. */
  webhookUrl: string;
}

/** The values for the settings of a sender's own Meta app. The token is returned only when the app's secret is set. */
export interface OwnAppView {
  url: string;
  verifyToken: string;
}

/** When a sender was checked with Meta. */
export interface AskedView {
  since: string;
}

/** The numbers of a business account; or the step that a person has to act on. */
export interface NumbersView {
  numbers: FoundNumberView[];
  step: SetupStep | null;
}

export interface FoundNumberView {
  phoneNumberId: string;
  number: string;
  verifiedName: string;
  /** In Meta's words; empty if Meta reports none. */
  status: string;
  /** Whether a sender has it already. */
  isTaken: boolean;
}

/** The sender that was added; or the step that a person has to act on. */
export type AddedView = { id: string; step: null } | { id: null; step: SetupStep };

/** The steps of a sender's setup, in their order. */
export interface SetupView {
  steps: SetupStep[];
}

export interface TestCodeView {
  step: SetupStep;
}

export type SenderRulesView = typeof SENDER_RULES;

/** The rules of the fields of a sender, for the forms. */
export const SENDER_RULES = {
  /** Messages a second. */
  throughput: SENDER_THROUGHPUT,
  templateInitial: SENDER_TEMPLATE_INITIAL,
  /** Regular expressions. */
  patterns: {
    phoneNumberId: SENDER_PATTERNS.phoneNumberId.source,
    businessAccountId: SENDER_PATTERNS.businessAccountId.source,
    template: SENDER_PATTERNS.template.source,
    appSecret: SENDER_PATTERNS.appSecret.source,
    token: ACCESS_TOKEN.source,
  },
};

export function senderView(
  { blocks, ...sender }: ListedSender,
  {
    activity,
    deliveries,
    held,
  }: {
    activity: SenderActivity | undefined;
    deliveries: DeliveryGroup | undefined;
    held: HeldMessages | undefined;
  },
  provider: ReturnType<typeof providerView>,
  now: Date,
) {
  return {
    ...sender,
    state: senderState(blocks, now),
    isNew: isNew(blocks),
    isBlockedByProvider: activeBlock(blocks, now)?.cause === 'provider',
    blocks: blocks.map((block) => ({
      /** Whether it applies to the sender, its business account or its portfolio. */
      scope: block.scope,
      onlyFor: block.onlyFor,
      source: block.source,
      errorCode: block.errorCode,
      reason: block.reason,
      explanation: explainBlock(block),
      failures: block.failures,
      since: block.since,
      until: block.until,
      /** Whether it blocks now. After a cool-down, single messages test whether the cause is resolved. */
      isBlocking: isBlocking(block, now),
    })),
    provider,
    outcomes: activity?.outcomes ?? {},
    /** Null if no message of the last eight days was counted. */
    deliveries:
      deliveries === undefined ? null : { lastDay: deliveries.lastDay, weekBefore: deliveries.weekBefore },
    /** How many of its messages Meta held in the last 24 hours. */
    held24h: held?.lastDay ?? 0,
    errors: (activity?.errors ?? []).map((error) => ({
      ...error,
      explanation: explainError(error.errorCode, error.outcome),
    })),
  };
}

/** The meaning of the provider's error code, in English with the key of its translation; null if the provider gave no code. */
export const explainBlock = ({
  errorCode,
  isConfiguration,
}: Pick<Block, 'errorCode' | 'isConfiguration'>): Explanation | null =>
  errorCode === null ? null : explainError(errorCode, isConfiguration ? 'config' : 'sender');
