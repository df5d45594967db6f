import { startSimulator, type Simulator } from '../src/index.js';
import { Receiver, type Json } from './receiver.js';

export const SENDER = '106540352242922';
export const ACCOUNT = '102290129340398';
export const APP_SECRET = 'sample-app-secret';
export const RECIPIENT = '+5511987654321';
export const OTHER = '+12015553931';

export type { Json };

type Options = Partial<Parameters<typeof startSimulator>[0]>;

const open: { close(): Promise<void> }[] = [];

/** Closes everything that `start` and `startReceiver` started. */
export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((one) => one.close()));
}

export async function startReceiver(): Promise<Receiver> {
  const receiver = await Receiver.start();
  open.push(receiver);
  return receiver;
}

/** Starts a simulator, by default with immediate receipts. */
export async function start(options: Options = {}): Promise<Simulator> {
  const delays = { sentMs: 0, deliveredMs: 0 };
  const simulator = await startSimulator({ appSecret: APP_SECRET, delays, ...options });
  open.push(simulator);
  return simulator;
}

/** Starts a simulator and the receiver of its webhooks. */
export async function startBoth(
  options: Options = {},
): Promise<{ simulator: Simulator; receiver: Receiver }> {
  const receiver = await startReceiver();
  const simulator = await start({ webhookUrl: receiver.url, ...options });
  return { simulator, receiver };
}

/** Returns the body that Meta documents for a one-time code, with these changes. */
export function bodyOf({
  to = RECIPIENT,
  code = '042913',
  language = 'pt_BR',
  opaque = 'att_01J9ZK',
}: { to?: string; code?: string; language?: string; opaque?: string } = {}) {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to,
    type: 'template',
    template: {
      name: 'verification_code',
      language: { code: language },
      components: [
        { type: 'body', parameters: [{ type: 'text', text: code }] },
        { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: code }] },
      ],
    },
    biz_opaque_callback_data: opaque,
  };
}

/** Posts a message and reads the whole answer; `json` is the parsed body, if it is JSON. */
export async function send(
  simulator: Simulator,
  body: unknown = bodyOf(),
  request: { sender?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
) {
  const { sender = SENDER, ...rest } = request;
  return call(`${simulator.apiUrl}/${sender}/messages`, 'POST', body, rest);
}

/** Returns the error code of a send, `null` when it was accepted. */
export async function codeOf(
  simulator: Simulator,
  { sender = SENDER, ...body }: Parameters<typeof bodyOf>[0] & { sender?: string } = {},
): Promise<number | null> {
  const { status, json } = await send(simulator, bodyOf(body), { sender });
  return status === 200 ? null : json.error.code;
}

/** Calls an endpoint of the control interface. */
export function control(simulator: Simulator, method: string, path: string, body?: unknown) {
  return call(`${simulator.url}/simulator/${path}`, method, body);
}

/** Reads from the Graph API. */
export function read(simulator: Simulator, path: string) {
  return call(`${simulator.apiUrl}/${path}`, 'GET');
}

/** Makes one call with a token. A string is sent unchanged. */
async function call(
  url: string,
  method: string,
  body?: unknown,
  { headers = {}, ...rest }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
) {
  const response = await fetch(url, {
    method,
    headers: { Authorization: 'Bearer token', 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...rest,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
