import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { roundRobin } from '../scheduling.mjs';

/**
 * @typedef {import('../environment.mjs').Service} Service
 * @typedef {import('../load/load.mjs').Request} Request
 *
 * @typedef {object} CreatedSend
 * @property {string} id
 * @property {string} key of its account
 *
 * @typedef {CreatedSend & { messageId: string, opaqueData: string }} AcceptedSend  `opaqueData` went out with its message
 *
 * @typedef {{ id: string, opaqueData?: string, status: string }} Report  on the message `id`; `opaqueData` came with it
 *
 * @typedef {object} Target  a service that does the whole job: Onecode or the baseline
 * @property {string} name
 * @property {Service} api
 * @property {() => Promise<Service>} startApi starts another API process
 * @property {string} secret signs webhooks
 * @property {string[]} keys one of each account
 * @property {string} databaseUrl
 * @property {import('pg').Pool} pool
 * @property {(providerUrl: string, concurrency: number) => Promise<Service>} startWorker
 * @property {(count: number) => Promise<CreatedSend[]>} createSends without jobs; their code is `CODE`
 * @property {(count: number) => Promise<void>} createEnqueuedSends with a job in the queue for each
 * @property {(count: number) => Promise<AcceptedSend[]>} createAcceptedSends that the provider has accepted: claimed and settled in small groups, as a worker does
 * @property {() => Promise<void>} clear deletes the sends that were created, and the receipts that wait for a worker
 * @property {() => Promise<void>} close ends the benchmark's own connections
 */

/** The name of the build that `--beside` names. */
export const BEFORE = 'before';
export const BASELINE = 'baseline';
export const ACCOUNTS = 1_000;
/** The number of sends that a busy Onecode worker claims, or settles, in one statement. */
export const SETTLED_TOGETHER = 12;
/** The provider's reports on a message that was read, in this order. */
export const RECEIPT_STATUSES = ['sent', 'delivered', 'read'];
/** The provider's usual number of reports in one webhook under load. */
export const REPORTS_PER_POST = 50;
export const CODE = '123456';
export const WRONG_CODE = '654321';
export const PROVIDER_PATH = '/v25.0';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Mobile numbers of São Paulo: 40 million of them, each used once in a run. */
let number = 60_000_000;
export const nextRecipient = () => `+55119${number++}`;

/**
 * Creations of sends to new recipients, with the keys in turn.
 * @param {readonly string[]} keys
 * @param {number} count
 * @param {boolean} hasIdempotencyKeys whether each request has its own idempotency key
 * @param {() => string} [recipientOf]
 * @returns {Request[]}
 */
export function creations(keys, count, hasIdempotencyKeys, recipientOf = nextRecipient) {
  return Array.from({ length: count }, (_, index) => ({
    method: 'POST',
    path: '/v1/send',
    headers: {
      ...JSON_TYPE,
      authorization: `Bearer ${roundRobin(keys, index)}`,
      ...(hasIdempotencyKeys && { 'idempotency-key': randomUUID() }),
    },
    body: JSON.stringify({ to: recipientOf() }),
  }));
}

/**
 * Requests for better-auth's phone number plugin.
 * @param {number} count
 * @returns {Request[]}
 */
export function otpSends(count) {
  return Array.from({ length: count }, () => ({
    method: 'POST',
    path: '/api/auth/phone-number/send-otp',
    headers: JSON_TYPE,
    body: JSON.stringify({ phoneNumber: nextRecipient() }),
  }));
}

/**
 * @param {readonly CreatedSend[]} sends
 * @returns {Request[]}
 */
export const statuses = (sends) =>
  sends.map(({ id, key }) => ({
    method: 'GET',
    path: `/v1/send/${id}/status`,
    headers: { authorization: `Bearer ${key}` },
  }));

/**
 * @param {readonly CreatedSend[]} sends
 * @param {string} code
 * @returns {Request[]}
 */
export const guesses = (sends, code) =>
  sends.map(({ id, key }) => ({
    method: 'POST',
    path: `/v1/send/${id}/verify`,
    headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
    body: JSON.stringify({ code }),
  }));

/**
 * Signed webhooks in Meta's format.
 * @param {readonly Report[]} reports
 * @param {number} size reports in each webhook
 * @param {string} secret
 * @returns {Request[]}
 */
export function webhooks(reports, size, secret) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return Array.from({ length: Math.ceil(reports.length / size) }, (_, post) => {
    const statuses = reports.slice(post * size, (post + 1) * size).map(({ id, opaqueData, status }) => ({
      id,
      biz_opaque_callback_data: opaqueData,
      status,
      timestamp,
      recipient_id: '5511987654321',
      conversation: { id: '0b1c2d3e4f5061728394a5b6c7d8e9f0', origin: { type: 'authentication' } },
      pricing: { billable: true, pricing_model: 'PMP', category: 'authentication', type: 'regular' },
    }));
    const value = {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' },
      statuses,
    };
    const entry = [{ id: '102290129340398', changes: [{ value, field: 'messages' }] }];
    const body = JSON.stringify({ object: 'whatsapp_business_account', entry });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    return {
      method: 'POST',
      path: '/webhooks/whatsapp',
      headers: { ...JSON_TYPE, 'x-hub-signature-256': `sha256=${signature}` },
      body,
    };
  });
}

/**
 * Reports on messages that the target did not send, which it still has to store.
 * @param {number} count
 */
export const reportsOfUnknownMessages = (count) =>
  Array.from({ length: count }, () => ({
    id: `wamid.${randomBytes(24).toString('base64')}`,
    status: 'delivered',
  }));
