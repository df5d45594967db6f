import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { inTurn } from '../turn.mjs';

/** @typedef {import('../load/plan.mjs').Request} Request */

/** Mobile numbers of São Paulo, each once in a run: 40 million of them. */
let number = 60_000_000;
export const nextRecipient = () => `+55119${number++}`;

const JSON_TYPE = { 'content-type': 'application/json' };

/**
 * Creations of sends to new recipients, by each key in its turn.
 * @param {readonly string[]} keys
 * @param {number} count
 * @param {boolean} keyed each with an idempotency key of its own
 * @returns {Request[]}
 */
export function creations(keys, count, keyed) {
  return Array.from({ length: count }, (_, place) => ({
    method: 'POST',
    path: '/v1/send',
    headers: {
      ...JSON_TYPE,
      authorization: `Bearer ${inTurn(keys, place)}`,
      ...(keyed && { 'idempotency-key': randomUUID() }),
    },
    body: JSON.stringify({ to: nextRecipient() }),
  }));
}

/**
 * What better-auth's phone number plugin takes.
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
 * @typedef {object} Made  a send that can be asked about
 * @property {string} id
 * @property {string} key
 */

/**
 * @param {readonly Made[]} sends
 * @returns {Request[]}
 */
export const statuses = (sends) =>
  sends.map(({ id, key }) => ({
    method: 'GET',
    path: `/v1/send/${id}/status`,
    headers: { authorization: `Bearer ${key}` },
  }));

/**
 * @param {readonly Made[]} sends
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
 * Webhooks of so many statuses each, signed, in Meta's form.
 * @param {readonly { id: string, attemptId?: string | undefined, status: string }[]} reports  with what our call said of itself, if it was ours
 * @param {number} size
 * @param {string} secret
 * @returns {Request[]}
 */
export function webhooks(reports, size, secret) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return Array.from({ length: Math.ceil(reports.length / size) }, (_, post) => {
    const statuses = reports.slice(post * size, (post + 1) * size).map(({ id, attemptId, status }) => ({
      id,
      biz_opaque_callback_data: attemptId,
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
 * Reports on messages that nobody sent: to be stored all the same.
 * @param {number} count
 */
export const strangeReports = (count) =>
  Array.from({ length: count }, () => ({
    id: `wamid.${randomBytes(24).toString('base64')}`,
    status: 'delivered',
  }));
