import express, { type NextFunction, type Request, type Response } from 'express';
import { refuse } from './answers.js';
import { Business, type BusinessOptions } from './business.js';
import { answerUnknownPath, cloudApi, unreadable } from './cloudApi.js';
import { control } from './control.js';
import { Events } from './events.js';
import { Rules, type NewRule, type Rule } from './faults.js';
import { Handshake } from './handshake.js';
import { health } from './health.js';
import { listen } from './listening.js';
import { Messages, type Message } from './messages.js';
import { numberSettings } from './numberSettings.js';
import { phonePage } from './phonePage.js';
import { reads } from './reads.js';
import { Receipts, type Receipt } from './receipts.js';
import { Requests, type RequestRecord } from './requests.js';
import { Settings, type Delays, type SettingValues } from './settings.js';
import { Throttles, type NewThrottle, type Throttle } from './throttles.js';
import { Throughput } from './throughput.js';
import { Timers } from './timers.js';
import { Webhooks, type Retry } from './webhooks.js';

export interface SimulatorOptions extends BusinessOptions {
  /** 0, the default, picks a free one. */
  port?: number;
  /** The address to listen on; loopback by default. */
  host?: string;
  /** Signs webhooks. */
  appSecret: string;
  /** Where status webhooks go; nowhere when absent. */
  webhookUrl?: string;
  /** When given, the webhook address is verified by Meta's GET handshake. */
  verifyToken?: string;
  /** 300 ms to `sent`, 900 ms to `delivered`, never `read` unless given. */
  delays?: Partial<Delays>;
  /** How many messages and requests are remembered; 10,000 by default. */
  keep?: number;
  webhookRetry?: Partial<Retry>;
}

export interface Simulator {
  readonly url: string;
  /** `url` with a version: what a Cloud API client takes as its base address. */
  readonly apiUrl: string;
  /** Accepted messages, oldest first. */
  messages(): Message[];
  /** Every request to `/messages`, oldest first. */
  requests(): RequestRecord[];
  /** What Meta knows of the business, and how it changes. */
  readonly business: Business;
  readonly rules: {
    /** @throws {InvalidInput} */
    add(rule: NewRule): Rule;
    list(): Rule[];
    remove(id: string): boolean;
    clear(): void;
  };
  readonly throttles: {
    /** @throws {InvalidInput} */
    add(throttle: NewThrottle): Throttle;
    list(): Throttle[];
    end(id: string): boolean;
  };
  readonly settings: Readonly<SettingValues>;
  /** @throws {InvalidInput} */
  changeSettings(values: Partial<SettingValues>): void;
  /** Sends webhooks, waiting repeats included, somewhere else; `null` keeps new ones to itself. */
  setWebhookUrl(url: string | null): void;
  /** The person behind the phone reads a message; `false` when there is nothing to read. Resolves once the webhook was posted. */
  markRead(messageId: string): Promise<boolean>;
  /** The person behind the phone says that they did not ask for this code; `false` when it never arrived, or they said so before. */
  reportMessage(messageId: string): Promise<boolean>;
  /** Posts any receipt. Resolves with the HTTP status of the first attempt, `null` without an answer. */
  postReceipt(receipt: Receipt): Promise<number | null>;
  /** Posts any payload, signed as all webhooks are. */
  postWebhook(payload: unknown): Promise<number | null>;
  /** Back to the state after the start: no messages, requests, rules or waiting webhooks, and the first settings. */
  reset(): void;
  /** Ends everything that is under way. Resolves when no connection or timer is left. */
  close(): Promise<void>;
}

const KEEP = 10_000;
const SNAPSHOT_MESSAGES = 500;
const SNAPSHOT_RULES = 200;
const RETRY: Retry = { attempts: 12, firstDelayMs: 1000, delayMsMax: 60_000 };

/** Starts a Cloud API on this machine. @throws when the port is taken, or {InvalidInput} for impossible settings. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const keep = options.keep ?? KEEP;
  const timers = new Timers();
  const changed = () => events.changed();
  const settings = new Settings(options.delays ?? {});
  const throttles = new Throttles(changed);
  const throughput = new Throughput(settings);
  const requests = new Requests(keep);
  const messages = new Messages(keep, (message) => {
    events.message(message);
    events.changed();
  });
  const rules = new Rules(changed);
  const handshake = new Handshake({ verifyToken: options.verifyToken ?? null, timers, changed });
  const webhooks = new Webhooks({
    appSecret: options.appSecret,
    url: options.webhookUrl === undefined ? null : new URL(options.webhookUrl),
    retry: { ...RETRY, ...options.webhookRetry },
    timers,
    changed,
  });
  const business = new Business(options, { post: (payload) => webhooks.post(payload), changed });
  const receipts = new Receipts({ business, messages, settings, timers, webhooks });
  let readCount = 0;
  const status = () => ({
    requests: requests.count,
    reads: readCount,
    messages: messages.size,
    webhooks: {
      url: webhooks.url?.href ?? null,
      ...webhooks.counts(),
      last_failure: webhooks.lastFailure,
      handshake: handshake.current,
    },
  });
  const events = new Events({
    messages: () => messages.newest(SNAPSHOT_MESSAGES),
    state: () => ({
      rules: rules.list().slice(0, SNAPSHOT_RULES),
      status: status(),
      business: business.snapshot(),
      throttles: throttles.list(),
    }),
  });
  const reset = () => {
    timers.reset();
    messages.clear();
    requests.clear();
    readCount = 0;
    rules.clear();
    settings.reset();
    business.reset();
    throttles.reset();
    throughput.reset();
    webhooks.reset();
    handshake.start(webhooks.url);
    events.restart();
  };

  let ready = true;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(cloudApi({ business, messages, receipts, requests, rules, throttles, throughput, timers }));
  app.use(reads({ business, rules, throttles, timers, counted: () => (readCount += 1) }));
  app.use(numberSettings(business));
  app.use(health(() => ready));
  app.use(
    '/simulator',
    control({ business, events, messages, receipts, requests, rules, settings, throttles, status, reset }),
  );
  app.use(phonePage());
  app.use(answerUnknownPath);
  app.use((_error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(_error);
    else refuse(response, unreadable());
  });

  const server = await listen(app, options.port ?? 0, options.host ?? '127.0.0.1');
  const { url } = server;
  handshake.start(webhooks.url);

  return {
    url,
    apiUrl: `${url}/v25.0`,
    messages: () => messages.all(),
    requests: () => requests.all(),
    business,
    rules,
    throttles,
    get settings() {
      return settings.current;
    },
    changeSettings: (values) => settings.change(values),
    setWebhookUrl: (next) => {
      webhooks.url = next === null ? null : new URL(next);
      handshake.start(webhooks.url);
    },
    markRead: (messageId) => receipts.markRead(messageId),
    reportMessage: (messageId) => receipts.didNotRequest(messageId),
    postReceipt: (receipt) => receipts.post(receipt),
    postWebhook: (payload) => webhooks.post(payload),
    reset,
    close: async () => {
      ready = false;
      events.close();
      timers.close();
      webhooks.close();
      await server.close();
    },
  };
}
