import type { Message, NewRule, Receipt, RequestRecord, SettingValues } from '@onecode/simulator';
import { until } from './until.js';

/** More than any run of tests makes. */
const EVERYTHING = 1_000_000;

/** The simulator's own interface, over HTTP. */
export class SimulatorControl {
  constructor(readonly url: string) {}

  /** The messages to a recipient (E.164 with `+`) or to all, newest first. */
  async messages(recipient?: string): Promise<Message[]> {
    const query = recipient === undefined ? '' : `&recipient=${encodeURIComponent(recipient)}`;
    return (await this.#ask('GET', `/messages?limit=${EVERYTHING}${query}`)) as Message[];
  }

  /** Every request to `/messages` that is remembered, newest first. */
  async requests(): Promise<RequestRecord[]> {
    return (await this.#ask('GET', `/requests?limit=${EVERYTHING}`)) as RequestRecord[];
  }

  /** How many webhooks were not answered with 200: still to be posted again, or given up. */
  async webhooksUnanswered(): Promise<number> {
    const { webhooks } = (await this.#ask('GET', '/status')) as {
      webhooks: { waiting: number; abandoned: number };
    };
    return webhooks.waiting + webhooks.abandoned;
  }

  /** Waits for the first message to a recipient. */
  async message(recipient: string): Promise<Message> {
    return until('a message', async () => (await this.messages(recipient)).at(-1));
  }

  async addRule(rule: NewRule): Promise<void> {
    await this.#ask('POST', '/rules', rule);
  }

  async clearRules(): Promise<void> {
    await this.#ask('DELETE', '/rules');
  }

  async changeSettings(settings: Partial<SettingValues>): Promise<void> {
    await this.#ask('PUT', '/settings', settings);
  }

  /** The person behind the phone reads a message. */
  async markRead(messageId: string): Promise<void> {
    await this.#ask('POST', `/messages/${encodeURIComponent(messageId)}/read`);
  }

  async postReceipt(receipt: Receipt): Promise<void> {
    await this.#ask('POST', '/receipts', receipt);
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}/simulator${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the simulator answered ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
}
