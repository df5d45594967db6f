import { isIP } from 'node:net';
import { refuseFaults } from './input.js';
import type { Delays } from './settings.js';

export interface Environment {
  port: number;
  metricsPort: number | null;
  metricsHost: string;
  host: string;
  appSecret: string;
  webhookUrl: string;
  verifyToken: string | null;
  delays: Partial<Delays>;
  keep: number | null;
  /** By phone number id. */
  displayPhoneNumbers: Readonly<Record<string, string>>;
}

const HOUR_MS = 3_600_000;
const HOST_NAME = /^(?:[a-z0-9-]{1,63}\.)*[a-z][a-z0-9-]{0,62}$/i;

/** Reads the process's environment; an empty variable counts as absent. @throws {InvalidInput} one line for each fault; no values in it. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
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
  const integer = (name: string, least: number, most: number): number | null => {
    const value = text(name);
    if (value === null) return null;
    if (/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    faults.push(`${name} must be an integer from ${least} to ${most}`);
    return null;
  };
  const sentMs = integer('SENT_DELAY_MS', 0, HOUR_MS);
  const deliveredMs = integer('DELIVERED_DELAY_MS', 0, HOUR_MS);
  const readMs = integer('READ_DELAY_MS', 0, HOUR_MS);
  const environment: Environment = {
    port: integer('PORT', 0, 65_535) ?? 4010,
    metricsPort: integer('METRICS_PORT', 0, 65_535),
    metricsHost: host('METRICS_HOST'),
    host: host('HOST'),
    appSecret: required('WHATSAPP_APP_SECRET'),
    webhookUrl: required('WEBHOOK_URL'),
    verifyToken: text('WHATSAPP_VERIFY_TOKEN'),
    delays: {
      ...(sentMs === null ? {} : { sentMs }),
      ...(deliveredMs === null ? {} : { deliveredMs }),
      ...(readMs === null ? {} : { readMs }),
    },
    keep: integer('KEEP_MESSAGES', 1, 1_000_000),
    displayPhoneNumbers: readNumbers(text('DISPLAY_PHONE_NUMBERS'), faults),
  };
  if (environment.webhookUrl !== '' && !isHttpUrl(environment.webhookUrl))
    faults.push('WEBHOOK_URL must be an http or https address');
  refuseFaults(faults);
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
  return URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol);
}
