import { createHash } from 'node:crypto';
import { invalidToken, noToken, unknownObject, type MetaError } from './answers.js';
import {
  accountChanges,
  capabilityChange,
  changeWebhook,
  senderChanges,
  templateChanges,
  type Change,
} from './changes.js';
import { id, phone, read, text } from './input.js';
import {
  ACCOUNT,
  ACCOUNT_DEFAULTS,
  PORTFOLIO,
  PORTFOLIO_DEFAULTS,
  SENDER,
  TEMPLATE,
  TEMPLATE_DEFAULTS,
  TOKEN,
  TOKEN_DEFAULTS,
  type BusinessAccountProfile,
  type PortfolioState,
  type SenderProfile,
  type TemplateKey,
  type TemplateProfile,
  type TokenState,
} from './businessStates.js';

/** The business account that owns numbers by default. */
export const DEFAULT_WABA_ID = '102290129340398';

/** By default, every well-formed template name is approved in these languages, and each account lists one template. */
const LANGUAGES = ['pt_BR', 'en', 'en_US'];
const LISTED_TEMPLATE = 'verification_code';
const TEMPLATE_KEY = {
  wabaId: id,
  name: text(/^[a-z0-9_]{1,512}$/, 'lower-case letters, digits and _'),
  language: text(/^[a-z]{2,3}(?:_[A-Z]{2,3})?$/, 'a language as Meta writes it'),
};

/** Options of a change. */
export interface ChangeOptions {
  /** Sends no webhook, so that only a read finds the change. */
  silent?: boolean;
}

/**
 * Meta's state of the business: portfolio, accounts, numbers, templates, access tokens, and the owners of phones. By default, every numeric
 * id is a connected number and every text a token with all permissions. A change posts Meta's webhooks, and resolves when each was posted
 * for the first time.
 */
export class Business {
  readonly #senders = new Map<string, SenderProfile>();
  readonly #accounts = new Map<string, BusinessAccountProfile>();
  readonly #templates = new Map<string, TemplateProfile>();
  readonly #tokens = new Map<string, TokenState>();
  /** How often each phone number has changed hands. */
  readonly #owners = new Map<string, number>();
  #portfolio = PORTFOLIO_DEFAULTS;

  constructor(
    /** Displayed numbers, digits by phone number id; others are generated. */
    readonly displayPhoneNumbers: Readonly<Record<string, string>>,
    readonly post: (payload: unknown) => Promise<unknown>,
    /** Called after each change. */
    readonly changed: () => void,
  ) {}

  get portfolio(): Readonly<PortfolioState> {
    return this.#portfolio;
  }

  sender(phoneNumberId: string): SenderProfile {
    const made = `1555${phoneNumberId.slice(-7).padStart(7, '0')}`;
    return (
      this.#senders.get(phoneNumberId) ?? {
        phoneNumberId,
        displayPhoneNumber: this.displayPhoneNumbers[phoneNumberId] ?? made,
        wabaId: DEFAULT_WABA_ID,
        status: 'CONNECTED',
        qualityRating: 'GREEN',
        throughputLevel: 'STANDARD',
        isOnBusinessApp: false,
        identityKeyCheck: false,
        verifiedName: 'Onecode',
        codeVerificationStatus: 'VERIFIED',
        registered: true,
        pin: null,
      }
    );
  }

  /** Returns the numbers that were used or changed and still exist. */
  senders(): SenderProfile[] {
    return [...this.#senders.values()].filter(({ status }) => status !== 'DELETED');
  }

  account(wabaId: string): BusinessAccountProfile {
    return this.#accounts.get(wabaId) ?? { ...ACCOUNT_DEFAULTS, id: wabaId };
  }

  isAccount(wabaId: string): boolean {
    return this.#accountIds().has(wabaId);
  }

  #accountIds(): Set<string> {
    const owners = this.senders().map(({ wabaId }) => wabaId);
    return new Set([DEFAULT_WABA_ID, ...this.#accounts.keys(), ...owners]);
  }

  /** Returns a template; `null` when the business account does not have it in this language. */
  findTemplate(key: TemplateKey): TemplateProfile | null {
    const template = this.#template(key);
    const isUsual =
      TEMPLATE_KEY.name.fits(key.name) &&
      LANGUAGES.includes(key.language) &&
      !this.account(key.wabaId).startsEmpty;
    const exists = isUsual || this.#templates.has(formatTemplateKey(key));
    return exists && template.status !== 'DELETED' ? template : null;
  }

  #template(key: TemplateKey): TemplateProfile {
    return (
      this.#templates.get(formatTemplateKey(key)) ?? { ...TEMPLATE_DEFAULTS, ...key, id: templateId(key) }
    );
  }

  /** Returns the templates that a business account lists. */
  templates(wabaId: string): TemplateProfile[] {
    const usual = this.account(wabaId).startsEmpty
      ? []
      : LANGUAGES.map((language) => this.#template({ wabaId, name: LISTED_TEMPLATE, language }));
    const all = new Map([...usual, ...this.#templates.values()].map((one) => [formatTemplateKey(one), one]));
    return [...all.values()].filter((one) => one.wabaId === wabaId && one.status !== 'DELETED');
  }

  token(value: string): TokenState & { isValid: boolean } {
    const state = this.#tokens.get(value) ?? TOKEN_DEFAULTS;
    const hasExpired = state.expiresAt !== 0 && state.expiresAt * 1000 <= Date.now();
    return { ...state, isValid: state.valid && !hasExpired };
  }

  /** Returns a template by Meta's id; `null` if none was created or changed here. */
  templateById(templateId: string): TemplateProfile | null {
    return [...this.#templates.values()].find(({ id }) => id === templateId) ?? null;
  }

  /** Returns the error for a call with this `Authorization` about a number or, if allowed, a business account; `null` when it is allowed. */
  refusal(
    method: 'get' | 'post',
    nodeId: string,
    authorization: string | undefined,
    mayBeAccount = method === 'get',
  ): MetaError | null {
    const refused = this.tokenRefusal(authorization);
    if (refused !== null) return refused;
    const isKnown = (mayBeAccount && this.isAccount(nodeId)) || this.#hears(nodeId);
    return isKnown ? null : unknownObject(method, nodeId);
  }

  /** Returns the error for a call without a valid token in `Authorization`. */
  tokenRefusal(authorization: string | undefined): MetaError | null {
    const token = bearerOf(authorization);
    if (token === undefined) return noToken();
    return this.token(token).isValid ? null : invalidToken();
  }

  /** Returns whether a number exists, and adds it to the list. */
  #hears(phoneNumberId: string): boolean {
    if (!id.fits(phoneNumberId) || this.sender(phoneNumberId).status === 'DELETED') return false;
    this.#senders.set(phoneNumberId, this.sender(phoneNumberId));
    return true;
  }

  /** Returns the identity hash of the owner of a phone (E.164 with `+`), in Meta's form: 8 bytes in base64. */
  identityOf(to: string): string {
    const owner = `${to} ${this.#owners.get(to) ?? 0}`;
    return createHash('sha256').update(owner).digest().subarray(0, 8).toString('base64');
  }

  /** Gives the phone to a new owner. @returns the owner's identity hash @throws {InvalidInput} */
  changeHands(to: string): string {
    read({ recipient: to }, { recipient: phone });
    this.#owners.set(to, (this.#owners.get(to) ?? 0) + 1);
    return this.identityOf(to);
  }

  /** Changes the named fields. The input here and below may be parsed JSON. @throws {InvalidInput} */
  async changeSender(phoneNumberId: string, values: unknown, options: ChangeOptions = {}) {
    read({ id: phoneNumberId }, { id });
    const before = this.sender(phoneNumberId);
    const after = { ...before, ...read(values, SENDER) };
    this.#senders.set(phoneNumberId, after);
    await this.#sendWebhook(after.wabaId, senderChanges(before, after), options);
    return after;
  }

  /** @throws {InvalidInput} */
  async changeAccount(wabaId: string, values: unknown, options: ChangeOptions = {}) {
    read({ id: wabaId }, { id });
    const before = this.account(wabaId);
    const after = { ...before, ...read(values, ACCOUNT) };
    this.#accounts.set(wabaId, after);
    await this.#sendWebhook(wabaId, accountChanges(before, after), options);
    return after;
  }

  /** @throws {InvalidInput} */
  async changeTemplate(key: TemplateKey, values: unknown, options: ChangeOptions = {}) {
    const { wabaId, name, language } = key;
    read({ wabaId, name, language }, TEMPLATE_KEY);
    const before = this.#template({ wabaId, name, language });
    const after = { ...before, ...read(values, TEMPLATE) };
    this.#templates.set(formatTemplateKey(key), after);
    await this.#sendWebhook(wabaId, templateChanges(before, after), options);
    return after;
  }

  /** @throws {InvalidInput} */
  async changePortfolio(values: unknown, options: ChangeOptions = {}): Promise<PortfolioState> {
    const before = this.#portfolio;
    const after = { ...before, ...read(values, PORTFOLIO) };
    this.#portfolio = after;
    this.changed();
    if (before.messagingLimit === after.messagingLimit) return after;
    for (const wabaId of this.#accountIds())
      await this.#sendWebhook(wabaId, [capabilityChange(after)], options);
    return after;
  }

  /** @throws {InvalidInput} */
  changeToken(token: string, values: unknown): TokenState {
    const after = { ...TOKEN_DEFAULTS, ...this.#tokens.get(token), ...read(values, TOKEN) };
    this.#tokens.set(token, after);
    return after;
  }

  /** Posts the webhook of any change, independent of the state. */
  sendWebhook(wabaId: string, change: Change): Promise<void> {
    return this.#sendWebhook(wabaId, [change], {});
  }

  async #sendWebhook(
    wabaId: string,
    changes: readonly Change[],
    { silent = false }: ChangeOptions,
  ): Promise<void> {
    this.changed();
    if (silent || !this.account(wabaId).subscribed) return;
    for (const change of changes) await this.post(changeWebhook(wabaId, change));
  }

  /** Returns the whole state, without tokens. */
  snapshot() {
    const accountIds = [...this.#accountIds()];
    return {
      portfolio: this.#portfolio,
      businessAccounts: accountIds.map((wabaId) => this.account(wabaId)),
      senders: this.senders(),
      templates: accountIds.flatMap((wabaId) => this.templates(wabaId)),
    };
  }

  reset(): void {
    for (const said of [this.#senders, this.#accounts, this.#templates, this.#tokens, this.#owners])
      said.clear();
    this.#portfolio = PORTFOLIO_DEFAULTS;
  }
}

/** Returns the bearer token of an `Authorization` header, `undefined` without one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

function formatTemplateKey({ wabaId, name, language }: TemplateKey): string {
  return `${wabaId} ${name} ${language}`;
}

/** Returns an id of 15 digits, the same for the same input. */
function templateId(key: TemplateKey): string {
  const digest = createHash('sha256').update(formatTemplateKey(key)).digest();
  return String(100_000_000_000_000 + (digest.readUIntBE(0, 6) % 900_000_000_000_000));
}
