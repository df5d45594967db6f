import { startSimulator, type Simulator, type SimulatorOptions } from '../src/index.js';
import { Receiver } from './receiver.js';

export const SENDER = '106540352242922';
export const APP_SECRET = 'sample-app-secret';
export const RECIPIENT = '+5511987654321';
export const OTHER = '+12015553931';

/** Parsed JSON, whose shape only the test knows. */
export type Json = ReturnType<typeof JSON.parse>;

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

/** A simulator with immediate receipts unless the options say otherwise. */
export async function start(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const simulator = await startSimulator({
    appSecret: APP_SECRET,
    delays: { sentMs: 0, deliveredMs: 0 },
    ...options,
  });
  open.push(simulator);
  return simulator;
}

/** A simulator and the receiver of its webhooks. */
export async function startBoth(
  options: Partial<SimulatorOptions> = {},
): Promise<{ simulator: Simulator; receiver: Receiver }> {
  const receiver = await startReceiver();
  const simulator = await start({ webhookUrl: receiver.url, ...options });
  return { simulator, receiver };
}

/** The body that Meta documents for a one-time code, with these differences. */
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

/** The documented body after a change to a copy of it. */
export function changed(change: (body: Json) => void): unknown {
  const body = structuredClone(bodyOf());
  change(body);
  return body;
}

/** Writes another code into the body and the button. */
export function setCode(body: Json, code: string) {
  for (const component of body.template.components) component.parameters[0].text = code;
}

export interface Sent {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body, where it is JSON. */
  json: Json;
}

/** Posts a message and reads the whole answer. */
export async function send(
  simulator: Simulator,
  body: unknown = bodyOf(),
  request: { sender?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Sent> {
  const response = await fetch(`${simulator.apiUrl}/${request.sender ?? SENDER}/messages`, {
    method: 'POST',
    headers: { Authorization: 'Bearer token', 'Content-Type': 'application/json', ...request.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(request.signal ? { signal: request.signal } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Calls an endpoint of the control interface. */
export async function control(simulator: Simulator, method: string, path: string, body?: unknown) {
  const response = await fetch(`${simulator.url}/simulator/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: parsed(text) as Json };
}
