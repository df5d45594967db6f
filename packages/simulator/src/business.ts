import { BusinessAccounts, type BusinessAccount, type BusinessAccountProfile } from './businessAccounts.js';
import {
  accountChanges,
  capabilityChange,
  changeWebhook,
  limitChange,
  senderChanges,
  templateChanges,
  type Change,
} from './changeWebhooks.js';
import { Portfolio, type PortfolioState } from './portfolio.js';
import { Senders, type Sender, type SenderProfile } from './senders.js';
import { Templates, type Template, type TemplateKey, type TemplateProfile } from './templates.js';
import { Tokens, type Token } from './tokens.js';
import { UserIdentities } from './userIdentities.js';

export interface BusinessOptions {
  /** The business's numbers; every numeric id when absent. */
  senders?: readonly Sender[] | undefined;
  /** What numbers show, digits by phone number id, also of numbers that `senders` does not name. */
  displayPhoneNumbers?: Readonly<Record<string, string>> | undefined;
  businessAccounts?: readonly BusinessAccount[] | undefined;
  /** Templates, by name in every language or one language with its state; every well-formed name when absent. */
  templates?: readonly (string | Template)[] | undefined;
  /** Languages of the templates that are given by name; pt_BR, en and en_US when absent. */
  languages?: readonly string[] | undefined;
  portfolio?: Partial<PortfolioState> | undefined;
  /** What is known of access tokens; any other text is a valid one that may do everything. */
  tokens?: readonly Token[] | undefined;
}

const LANGUAGES = ['pt_BR', 'en', 'en_US'];

/** How a change of the business is made. */
export interface ChangeOptions {
  /** Sends no webhook, as when one was lost: only a read can find the change. */
  silent?: boolean;
}

export interface BusinessParts {
  /** Posts a webhook; resolves once it was posted for the first time. */
  post: (payload: unknown) => Promise<unknown>;
  /** Called after each change. */
  changed: () => void;
}

/**
 * What Meta knows of the business: its portfolio, accounts, numbers, templates and access tokens. Each change of them posts the webhooks
 * by which Meta tells it, and resolves once each was posted for the first time.
 */
export class Business {
  readonly senders: Senders;
  readonly accounts: BusinessAccounts;
  readonly templates: Templates;
  readonly portfolio: Portfolio;
  readonly tokens: Tokens;
  readonly identities = new UserIdentities();
  readonly #parts: BusinessParts;

  /** @throws {InvalidInput} */
  constructor(options: BusinessOptions, parts: BusinessParts) {
    this.#parts = parts;
    this.senders = new Senders(options.senders, options.displayPhoneNumbers ?? {});
    this.accounts = new BusinessAccounts(options.businessAccounts ?? [], this.senders);
    this.templates = new Templates(options.templates, options.languages ?? LANGUAGES);
    this.portfolio = new Portfolio(options.portfolio ?? {});
    this.tokens = new Tokens(options.tokens ?? []);
  }

  /** @throws {InvalidInput} */
  async changeSender(id: string, values: unknown, options: ChangeOptions = {}): Promise<SenderProfile> {
    const before = this.senders.describe(id);
    const after = this.senders.change(id, values);
    const changes = senderChanges(before, after, this.portfolio.current.messagingLimit);
    await this.#tell(after.wabaId, changes, options);
    return after;
  }

  /** @throws {InvalidInput} */
  async changeAccount(
    id: string,
    values: unknown,
    options: ChangeOptions = {},
  ): Promise<BusinessAccountProfile> {
    const before = this.accounts.describe(id);
    const after = this.accounts.change(id, values);
    await this.#tell(id, accountChanges(before, after), options);
    return after;
  }

  /** @throws {InvalidInput} */
  async changeTemplate(
    key: TemplateKey,
    values: unknown,
    options: ChangeOptions = {},
  ): Promise<TemplateProfile> {
    const { before, after } = this.templates.change(key, values);
    await this.#tell(key.wabaId, templateChanges(before, after), options);
    return after;
  }

  /** @throws {InvalidInput} */
  async changePortfolio(values: unknown, options: ChangeOptions = {}): Promise<PortfolioState> {
    const before = this.portfolio.current;
    const after = this.portfolio.change(values);
    if (before.messagingLimit === after.messagingLimit) return after;
    for (const { id } of this.accounts.all()) await this.#tell(id, [capabilityChange(after)], options);
    for (const sender of this.senders.all())
      await this.#tell(sender.wabaId, [limitChange(sender, before, after)], options);
    return after;
  }

  /** Posts the webhook of any change, whatever became of the state. */
  tell(wabaId: string, change: Change): Promise<void> {
    return this.#tell(wabaId, [change], {});
  }

  async #tell(wabaId: string, changes: readonly Change[], { silent = false }: ChangeOptions): Promise<void> {
    this.#parts.changed();
    if (silent || !this.accounts.describe(wabaId).subscribed) return;
    for (const change of changes) await this.#parts.post(changeWebhook(wabaId, change));
  }

  /** Everything, for whoever looks inside; no tokens. */
  snapshot() {
    const accounts = this.accounts.all();
    return {
      portfolio: this.portfolio.current,
      businessAccounts: accounts,
      senders: this.senders.all(),
      templates: accounts.flatMap(({ id }) => this.templates.all(id)),
    };
  }

  reset(): void {
    const { senders, accounts, templates, portfolio, tokens, identities } = this;
    for (const part of [senders, accounts, templates, portfolio, tokens, identities]) part.reset();
  }
}
