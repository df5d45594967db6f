import { isIP } from 'node:net';
import { integer, InvalidInput, oneOf, orNull, read, yesOrNo, type ValuesOf } from './input.js';

const delay = integer(0, 86_400_000);
const MEMBERS = {
  /** Delays of receipts after the acceptance of a message. */
  sentMs: delay,
  deliveredMs: delay,
  /** `null`: messages are only read by hand. */
  readMs: orNull(delay),
  /** Limits each sender to 80 messages per second (error 130429). */
  senderLimit: yesOrNo,
  /** How long the review of a new or changed template takes, and how it ends. */
  reviewMs: delay,
  review: oneOf('APPROVED', 'REJECTED'),
};

/** Settings that can change while the simulator runs. */
export type SettingValues = ValuesOf<typeof MEMBERS>;

/** Delays of receipts. */
export type Delays = Pick<SettingValues, 'sentMs' | 'deliveredMs' | 'readMs'>;

const DEFAULTS: SettingValues = {
  sentMs: 300,
  deliveredMs: 900,
  readMs: null,
  senderLimit: false,
  reviewMs: 3000,
  review: 'APPROVED',
};

export class Settings {
  readonly #initial: SettingValues;
  #current: SettingValues;

  constructor(delays: Partial<Delays>) {
    this.#initial = { ...DEFAULTS, ...delays };
    this.#current = this.#initial;
  }

  get current(): Readonly<SettingValues> {
    return this.#current;
  }

  /** Changes the named settings, which may be parsed JSON, and keeps the others. @throws {InvalidInput} */
  change(values: unknown): void {
    this.#current = { ...this.#current, ...read(values, MEMBERS) };
  }

  reset(): void {
    this.#current = this.#initial;
  }
}

const HOUR_MS = 3_600_000;
const HOST_NAME = /^(?:[a-z0-9-]{1,63}\.)*[a-z][a-z0-9-]{0,62}$/i;

/** Reads the environment; an empty variable counts as absent. @throws {InvalidInput} one line for each fault, without values */
export function readEnvironment(env: NodeJS.ProcessEnv) {
  const faults: string[] = [];
  const text = (name: string): string | null => env[name]?.trim() || null;
  const required = (name: string): string => {
    const value = text(name);
    if (value === null) faults.push(`${name} is missing`);
    return value ?? '';
  };
  const host = (name: string): string => {
    const value = text(name) ?? '127.0.0.1';
    if (isIP(value) === 0 && !HOST_NAME.test(value))
      faults.push(`${name} must be an IP address or a host name`);
    return value;
  };
  const number = (name: string, least: number, most: number): number | null => {
    const value = text(name);
    if (value === null) return null;
    if (/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    faults.push(`${name} must be an integer from ${least} to ${most}`);
    return null;
  };
  const environment = {
    port: number('PORT', 0, 65_535) ?? 4010,
    metricsPort: number('METRICS_PORT', 0, 65_535),
    metricsHost: host('METRICS_HOST'),
    host: host('HOST'),
    appSecret: required('WHATSAPP_APP_SECRET'),
    webhookUrl: required('WEBHOOK_URL'),
    verifyToken: text('WHATSAPP_VERIFY_TOKEN'),
    delays: {
      sentMs: number('SENT_DELAY_MS', 0, HOUR_MS) ?? DEFAULTS.sentMs,
      deliveredMs: number('DELIVERED_DELAY_MS', 0, HOUR_MS) ?? DEFAULTS.deliveredMs,
      readMs: number('READ_DELAY_MS', 0, HOUR_MS),
    },
    /** The number of messages and requests that are kept. */
    keep: number('KEEP_MESSAGES', 1, 1_000_000) ?? 10_000,
    /** By phone number id, digits. */
    displayPhoneNumbers: readNumbers(text('DISPLAY_PHONE_NUMBERS'), faults),
  };
  if (environment.webhookUrl !== '' && !isHttpUrl(environment.webhookUrl))
    faults.push(
      'WEBHOOK_URL must be an http:// or https:// address without a user, with a valid host and a port up to 65535',
    );
  if (faults.length > 0) throw new InvalidInput(faults);
  return environment;
}

function readNumbers(value: string | null, faults: string[]): Record<string, string> {
  const pairs = (value ?? '').split(',').filter((pair) => pair.trim() !== '');
  const numbers = pairs.map((pair) => /^\s*(\d{1,32})=\+?(\d{7,15})\s*$/.exec(pair));
  if (numbers.includes(null))
    faults.push('DISPLAY_PHONE_NUMBERS must be like 106540352242922=15550783881, separated by commas');
  return Object.fromEntries(numbers.map((match) => [match?.[1], match?.[2]]));
}

function isHttpUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
