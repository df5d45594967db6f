import { Business } from './business.js';
import { Rules } from './faults.js';
import { Messages, Recent, type RequestRecord } from './log.js';
import { Events } from './phonePage.js';
import { Receipts } from './receipts.js';
import { Settings, type Delays } from './settings.js';
import { Limits, Throttles } from './throttles.js';
import { Timers } from './timers.js';
import { Webhooks } from './webhooks.js';

export interface SimulatorOptions {
  /** 0, the default, is a free port. */
  port?: number;
  /** The address to listen on; loopback by default. */
  host?: string;
  /** Signs webhooks. */
  appSecret: string;
  /** The address for webhooks; absent for none. */
  webhookUrl?: string;
  /** When present, the webhook address is verified with Meta's GET handshake. */
  verifyToken?: string | null;
  /** Default: 300 ms to `sent`, 900 ms to `delivered`, never `read`. */
  delays?: Partial<Delays>;
  /** The number of messages and requests that are kept; 10,000 by default. */
  keep?: number;
  /** Displayed numbers, digits by phone number id; others are generated. */
  displayPhoneNumbers?: Readonly<Record<string, string>>;
}

const KEEP = 10_000;
const SNAPSHOT_MESSAGES = 2000;
const SNAPSHOT_RULES = 200;

/** The parts of one simulator. */
export type Parts = ReturnType<typeof createParts>;

export function createParts(options: SimulatorOptions) {
  const { appSecret, webhookUrl, verifyToken = null, keep = KEEP } = options;
  const changed = () => events.changed();
  const timers = new Timers();
  const settings = new Settings(options.delays ?? {});
  const throttles = new Throttles(changed);
  const limits = new Limits(settings);
  const requests = new Recent<RequestRecord>(keep);
  const messages = new Messages(keep, (message) => events.message(message));
  const rules = new Rules(changed);
  const url = webhookUrl === undefined ? null : new URL(webhookUrl);
  const webhooks = new Webhooks(appSecret, url, verifyToken, timers, changed);
  const business = new Business(
    options.displayPhoneNumbers ?? {},
    (payload) => webhooks.post(payload),
    changed,
  );
  const receipts = new Receipts(business, messages, settings, timers, webhooks);
  const counts = { reads: 0, registrations: new Map<string, number>() };
  const status = () => ({ requests: requests.count, reads: counts.reads, webhooks: webhooks.status() });
  const newest = () => messages.all().slice(-SNAPSHOT_MESSAGES).toReversed();
  const events = new Events(newest, () => ({
    rules: rules.list().slice(0, SNAPSHOT_RULES),
    status: status(),
    business: business.snapshot(),
    throttles: throttles.list(),
  }));
  /** Returns to the state after the start. */
  const reset = () => {
    timers.reset();
    counts.reads = 0;
    counts.registrations.clear();
    for (const part of [messages, requests, rules]) part.clear();
    for (const part of [settings, business, throttles, limits, webhooks]) part.reset();
    events.restart();
  };
  return {
    business,
    counts,
    events,
    limits,
    messages,
    receipts,
    requests,
    rules,
    settings,
    throttles,
    timers,
    webhooks,
    status,
    reset,
  };
}
