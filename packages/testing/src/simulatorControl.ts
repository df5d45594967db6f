import type {
  BusinessAccountState,
  Message,
  NewRule,
  NewThrottle,
  Receipt,
  RequestRecord,
  SenderState,
  SettingValues,
  TemplateState,
  Throttle,
  TokenState,
} from '@onecode/simulator';
import { until } from './until.js';

/** Larger than the number of messages of any test. */
const LIMIT = 1_000_000;

/** A client of the simulator's control interface. */
export class SimulatorControl {
  constructor(readonly url: string) {}

  /** Returns the messages to a recipient (E.164 with `+`) or to all recipients, newest first. */
  async messages(recipient?: string): Promise<Message[]> {
    const query = recipient === undefined ? '' : `&recipient=${encodeURIComponent(recipient)}`;
    return (await this.#call('GET', `/messages?limit=${LIMIT}${query}`)) as Message[];
  }

  /** Returns the stored requests to `/messages`, newest first. */
  async requests(): Promise<RequestRecord[]> {
    return (await this.#call('GET', `/requests?limit=${LIMIT}`)) as RequestRecord[];
  }

  /** Returns the number of webhooks without a 200 response, which the simulator repeats or has given up. */
  async webhooksUnanswered(): Promise<number> {
    const { webhooks } = (await this.#call('GET', '/status')) as {
      webhooks: { waiting: number; abandoned: number };
    };
    return webhooks.waiting + webhooks.abandoned;
  }

  /** Waits for the first message to a recipient. */
  async message(recipient: string): Promise<Message> {
    return until('a message', async () => (await this.messages(recipient)).at(-1));
  }

  async addRule(rule: NewRule): Promise<void> {
    await this.#call('POST', '/rules', rule);
  }

  async clearRules(): Promise<void> {
    await this.#call('DELETE', '/rules');
  }

  async changeSettings(settings: Partial<SettingValues>): Promise<void> {
    await this.#call('PUT', '/settings', settings);
  }

  async addThrottle(throttle: NewThrottle): Promise<Throttle> {
    return (await this.#call('POST', '/throttles', throttle)) as Throttle;
  }

  /** Ends a throttle. @returns it with the calls that arrived during it */
  async endThrottle(id: string): Promise<Throttle> {
    await this.#call('DELETE', `/throttles/${id}`);
    const throttles = (await this.#call('GET', '/throttles')) as Throttle[];
    return throttles.find((throttle) => throttle.id === id)!;
  }

  /** Changes the simulated state of a number, and posts the webhooks about it. */
  async changeSender(phoneNumberId: string, change: Partial<SenderState>): Promise<void> {
    await this.#call('PUT', `/senders/${phoneNumberId}`, change);
  }

  /** Changes a business account in the same way. */
  async changeAccount(wabaId: string, change: Partial<BusinessAccountState>): Promise<void> {
    await this.#call('PUT', `/business-accounts/${wabaId}`, change);
  }

  /** Changes one language of a business account's template in the same way. */
  async changeTemplate(
    { wabaId, name, language }: { wabaId: string; name: string; language: string },
    change: Partial<TemplateState>,
  ): Promise<void> {
    await this.#call('PUT', `/business-accounts/${wabaId}/templates/${name}/${language}`, change);
  }

  /** Changes an access token in the same way. */
  async changeToken(token: string, change: Partial<TokenState>): Promise<void> {
    await this.#call('PUT', `/tokens/${token}`, change);
  }

  /** Simulates that the recipient reads a message. */
  async markRead(messageId: string): Promise<void> {
    await this.#call('POST', `/messages/${encodeURIComponent(messageId)}/read`);
  }

  /** Simulates that the recipient presses the button "I didn't request a code". */
  async deny(messageId: string): Promise<void> {
    await this.#call('POST', `/messages/${encodeURIComponent(messageId)}/did-not-request`);
  }

  async postReceipt(receipt: Receipt): Promise<void> {
    await this.#call('POST', '/receipts', receipt);
  }

  async #call(method: string, path: string, body?: object): Promise<unknown> {
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
