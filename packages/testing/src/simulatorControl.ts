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

/** More than any test makes. */
const LIMIT = 1_000_000;

/** The simulator's control interface, over HTTP. */
export class SimulatorControl {
  constructor(readonly url: string) {}

  /** The messages to a recipient (E.164 with `+`) or to all, newest first. */
  async messages(recipient?: string): Promise<Message[]> {
    const query = recipient === undefined ? '' : `&recipient=${encodeURIComponent(recipient)}`;
    return (await this.#call('GET', `/messages?limit=${LIMIT}${query}`)) as Message[];
  }

  /** Every request to `/messages` that the simulator remembers, newest first. */
  async requests(): Promise<RequestRecord[]> {
    return (await this.#call('GET', `/requests?limit=${LIMIT}`)) as RequestRecord[];
  }

  /** The number of webhooks that got no 200: the simulator posts them again, or has given up. */
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

  /** Ends a throttle. @returns it with the calls that came while it lasted */
  async endThrottle(id: string): Promise<Throttle> {
    await this.#call('DELETE', `/throttles/${id}`);
    const throttles = (await this.#call('GET', '/throttles')) as Throttle[];
    return throttles.find((throttle) => throttle.id === id)!;
  }

  /** Changes what Meta knows of a number, with the webhooks by which it tells that. */
  async changeSender(phoneNumberId: string, change: Partial<SenderState>): Promise<void> {
    await this.#call('PUT', `/senders/${phoneNumberId}`, change);
  }

  /** The same for a business account. */
  async changeAccount(wabaId: string, change: Partial<BusinessAccountState>): Promise<void> {
    await this.#call('PUT', `/business-accounts/${wabaId}`, change);
  }

  /** The same for one language of a business account's template. */
  async changeTemplate(
    { wabaId, name, language }: { wabaId: string; name: string; language: string },
    change: Partial<TemplateState>,
  ): Promise<void> {
    await this.#call('PUT', `/business-accounts/${wabaId}/templates/${name}/${language}`, change);
  }

  /** The same for an access token. */
  async changeToken(token: string, change: Partial<TokenState>): Promise<void> {
    await this.#call('PUT', `/tokens/${token}`, change);
  }

  /** The person behind the phone reads a message. */
  async markRead(messageId: string): Promise<void> {
    await this.#call('POST', `/messages/${encodeURIComponent(messageId)}/read`);
  }

  /** They press the button by which they say that they did not ask for the code. */
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
