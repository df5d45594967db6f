import { createHash } from 'node:crypto';
import {
  changeOf,
  digits,
  faultsOf,
  integer,
  oneOf,
  orNull,
  refuseFaults,
  text,
  type Member,
} from './input.js';

/** What Meta knows of one language of a message template, in Meta's own words. */
export interface TemplateState {
  status: (typeof STATUSES)[number];
  category: 'AUTHENTICATION' | 'MARKETING' | 'UTILITY';
  quality: 'GREEN' | 'YELLOW' | 'RED' | 'UNKNOWN';
  /** `NONE` unless Meta rejected it. */
  rejectedReason: (typeof REASONS)[number];
  /** Seconds after which Meta gives up delivering; `null` is Meta's default of ten minutes. */
  ttlSeconds: number | null;
  /** What the footer says about the code's validity; `null` leaves the footer out. */
  codeExpirationMinutes: number | null;
  /** Whether the body ends with the advice not to share the code. */
  securityRecommendation: boolean;
  /** The button of a one-time code; `null` leaves it out. */
  otpType: 'COPY_CODE' | 'ONE_TAP' | 'ZERO_TAP' | null;
  /** How the button is told: as Meta's reference has it, or as a link that names its type, as older templates come. */
  buttonForm: 'OTP' | 'URL';
}

/** One language of a template; a language that is left out is every one of the simulator's. */
export interface Template extends Partial<TemplateState> {
  name: string;
  language: string;
  /** The business account that owns it; every one when absent. */
  wabaId?: string;
}

export interface TemplateProfile extends TemplateState {
  id: string;
  wabaId: string;
  name: string;
  /** Meta's form, `pt_BR`. */
  language: string;
  /** Before Meta changed it. */
  previousCategory: TemplateState['category'] | null;
  /** When the quality was rated last, Unix seconds. */
  qualityAt: number;
}

const STATUSES = [
  'APPROVED',
  'PENDING',
  'REJECTED',
  'PAUSED',
  'DISABLED',
  'ARCHIVED',
  'IN_APPEAL',
  'PENDING_DELETION',
  'DELETED',
  'LIMIT_EXCEEDED',
] as const;
const REASONS = [
  'NONE',
  'ABUSIVE_CONTENT',
  'INCORRECT_CATEGORY',
  'INVALID_FORMAT',
  'PROMOTIONAL',
  'SCAM',
  'TAG_CONTENT_MISMATCH',
] as const;

const DEFAULTS: TemplateState = {
  status: 'APPROVED',
  category: 'AUTHENTICATION',
  quality: 'GREEN',
  rejectedReason: 'NONE',
  ttlSeconds: 600,
  codeExpirationMinutes: 10,
  securityRecommendation: true,
  otpType: 'COPY_CODE',
  buttonForm: 'OTP',
};
const FIRST_RATED_AT = 1_763_629_200;

const MEMBERS: Readonly<Record<keyof TemplateState, Member>> = {
  status: oneOf(...STATUSES),
  category: oneOf('AUTHENTICATION', 'MARKETING', 'UTILITY'),
  quality: oneOf('GREEN', 'YELLOW', 'RED', 'UNKNOWN'),
  rejectedReason: oneOf(...REASONS),
  ttlSeconds: orNull({
    fits: (value) => value === -1 || integer(30, 43_200).fits(value),
    wanted: 'an integer from 30 to 43200, or -1',
  }),
  codeExpirationMinutes: orNull(integer(1, 90)),
  securityRecommendation: oneOf(true, false),
  otpType: orNull(oneOf('COPY_CODE', 'ONE_TAP', 'ZERO_TAP')),
  buttonForm: oneOf('OTP', 'URL'),
};

/** What identifies one language of a template. */
export interface TemplateKey {
  wabaId: string;
  name: string;
  language: string;
}

type Change = { key: TemplateKey } & Partial<Omit<TemplateProfile, 'id' | keyof TemplateKey>>;

const NAME = text(/^[a-z0-9_]{1,512}$/, 'lower-case letters, digits and _');
const LANGUAGE = text(/^[a-z]{2,3}(?:_[A-Z]{2,3})?$/, 'a language as Meta writes it');

/**
 * The message templates of every business account. Unless the options name templates, every well-formed name in one of the
 * languages is approved, and each account lists `verification_code`.
 */
export class Templates {
  readonly #any: boolean;
  readonly #languages: readonly string[];
  readonly #configured: readonly Template[];
  readonly #changes = new Map<string, Change>();

  constructor(templates: readonly (string | Template)[] | undefined, languages: readonly string[]) {
    this.#any = templates === undefined;
    this.#languages = languages;
    this.#configured = (templates ?? ['verification_code']).flatMap((template) =>
      typeof template === 'string' ? languages.map((language) => ({ name: template, language })) : [template],
    );
  }

  /** `null` when the business account has no such template in this language. */
  find(key: TemplateKey): TemplateProfile | null {
    const template = this.#read(key);
    return template?.status === 'DELETED' ? null : template;
  }

  /** The templates of a business account, oldest first. */
  all(wabaId: string): TemplateProfile[] {
    const keys = new Map<string, TemplateKey>();
    for (const { name, language, wabaId: owner } of this.#configured)
      if (owner === undefined || owner === wabaId)
        keys.set(keyOf({ wabaId, name, language }), { wabaId, name, language });
    for (const [id, { key }] of this.#changes) if (key.wabaId === wabaId) keys.set(id, key);
    return [...keys.values()].map((key) => this.find(key)).filter((template) => template !== null);
  }

  /** Changes what is named, which may come from parsed JSON; a template that nobody knew begins to exist. @throws {InvalidInput} */
  change(key: TemplateKey, values: unknown): { before: TemplateProfile; after: TemplateProfile } {
    refuseFaults(faultsOf(keyPartsOf(key), { wabaId: digits, name: NAME, language: LANGUAGE }));
    const change = changeOf<TemplateState>(values, MEMBERS);
    const before = this.#read(key) ?? madeUp(key);
    const { category = before.category, quality = before.quality } = change;
    this.#changes.set(keyOf(key), {
      ...this.#changes.get(keyOf(key)),
      ...change,
      key,
      previousCategory: category === before.category ? before.previousCategory : before.category,
      qualityAt: quality === before.quality ? before.qualityAt : Math.floor(Date.now() / 1000),
    });
    return { before, after: this.#read(key) ?? before };
  }

  reset(): void {
    this.#changes.clear();
  }

  #read(key: TemplateKey): TemplateProfile | null {
    const configured = this.#configured.findLast((template) => belongs(template, key));
    const { key: _key, ...change } = this.#changes.get(keyOf(key)) ?? {};
    const exists = configured !== undefined || _key !== undefined;
    if (!exists && !(this.#any && NAME.fits(key.name) && this.#languages.includes(key.language))) return null;
    return { ...madeUp(key), ...configured, ...change, ...keyPartsOf(key) };
  }
}

function madeUp(key: TemplateKey): TemplateProfile {
  return {
    ...DEFAULTS,
    ...keyPartsOf(key),
    id: idOf(key),
    previousCategory: null,
    qualityAt: FIRST_RATED_AT,
  };
}

function keyPartsOf({ wabaId, name, language }: TemplateKey): TemplateKey {
  return { wabaId, name, language };
}

function belongs(template: Template, { wabaId, name, language }: TemplateKey): boolean {
  return (
    template.name === name &&
    template.language === language &&
    (template.wabaId === undefined || template.wabaId === wabaId)
  );
}

function keyOf({ wabaId, name, language }: TemplateKey): string {
  return `${wabaId} ${name} ${language}`;
}

/** An id of 15 digits, the same each time. */
function idOf(key: TemplateKey): string {
  const digest = createHash('sha256').update(keyOf(key)).digest();
  return String(100_000_000_000_000 + (digest.readUIntBE(0, 6) % 900_000_000_000_000));
}
