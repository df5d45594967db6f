import { BusinessAccounts, type BusinessAccount } from './businessAccounts.js';
import { Portfolio, type PortfolioState } from './portfolio.js';
import { Senders, type Sender } from './senders.js';
import { Templates, type Template } from './templates.js';
import { Tokens, type Token } from './tokens.js';

export interface BusinessOptions {
  /** The business's numbers; every numeric id when absent. */
  senders?: readonly Sender[] | undefined;
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

/** What Meta knows of the business: its portfolio, accounts, numbers, templates and access tokens. */
export class Business {
  readonly senders: Senders;
  readonly accounts: BusinessAccounts;
  readonly templates: Templates;
  readonly portfolio: Portfolio;
  readonly tokens: Tokens;

  /** @throws {InvalidInput} */
  constructor(options: BusinessOptions) {
    this.senders = new Senders(options.senders);
    this.accounts = new BusinessAccounts(options.businessAccounts ?? [], this.senders);
    this.templates = new Templates(options.templates, options.languages ?? LANGUAGES);
    this.portfolio = new Portfolio(options.portfolio ?? {});
    this.tokens = new Tokens(options.tokens ?? []);
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
    for (const part of [this.senders, this.accounts, this.templates, this.portfolio, this.tokens])
      part.reset();
  }
}
