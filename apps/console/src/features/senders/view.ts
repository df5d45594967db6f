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

/** Failed calls of a sender in the last hour, by outcome and error code, with what the code means and what an operator can do. */
export type SenderErrorView = SenderView['errors'][number];

export interface SendersView {
  /** Oldest first. */
  senders: SenderView[];
  rules: SenderRulesView;
  /** By which senders the account's sends leave; null for the staff, who see all accounts'. */
  policy: SenderPolicy | null;
  /** Where Meta apps post; one of a sender's own business to the sender's id below it. */
  webhookUrl: string;
}

/** What is entered in the settings of a sender's own Meta app; the token is shown when the app's secret is given, and never again. */
export interface OwnAppView {
  url: string;
  verifyToken: string;
}

/** When Meta was asked about a sender. */
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
  activity: SenderActivity | undefined,
  provider: ReturnType<typeof providerView>,
  now: Date,
) {
  return {
    ...sender,
    state: senderState(blocks, now),
    isNew: isNew(blocks),
    isBlockedByProvider: activeBlock(blocks, now)?.cause === 'provider',
    blocks: blocks.map((block) => ({
      onlyFor: block.onlyFor,
      source: block.source,
      errorCode: block.errorCode,
      reason: block.reason,
      explanation: explainBlock(block),
      failures: block.failures,
      since: block.since,
      until: block.until,
      /** Whether it blocks now. After a cool-down, single messages try whether its cause is gone. */
      isBlocking: isBlocking(block, now),
    })),
    provider,
    outcomes: activity?.outcomes ?? {},
    errors: (activity?.errors ?? []).map((error) => ({
      ...error,
      explanation: explainError(error.errorCode, error.outcome),
    })),
  };
}

/** What the provider's code of a block means, in English with the names by which the pages translate; null where it gave none. */
export const explainBlock = ({
  errorCode,
  isConfiguration,
}: Pick<Block, 'errorCode' | 'isConfiguration'>): Explanation | null =>
  errorCode === null ? null : explainError(errorCode, isConfiguration ? 'config' : 'sender');
