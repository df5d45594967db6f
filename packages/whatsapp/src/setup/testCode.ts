import { setTimeout as wait } from 'node:timers/promises';
import { generateCode, templateLanguages, type PhoneRecipient } from '@onecode/domain';
import type { CloudApi } from '../client.js';
import { englishStep, step, type SetupStep } from './steps.js';

interface TestCodeOptions {
  token: string;
  phoneNumberId: string;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  to: PhoneRecipient;
  /** A new id that no send has. Meta returns it in receipts. */
  sendId: string;
  /** How long to wait for the receipts. */
  receiptMs: number;
  /** Returns the statuses that Meta has reported for a message so far. */
  listStatuses: (messageId: string) => Promise<string[]>;
}

const RECEIPT_POLL_MS = 500;

/** Sends a code from a number and waits for its receipts, which reach the API like those of all messages. */
export async function sendTestCode(cloudApi: CloudApi, options: TestCodeOptions): Promise<SetupStep> {
  const { token, phoneNumberId, template, to, receiptMs } = options;
  const name = 'test';
  const code = generateCode();
  const locale = to.country === 'BR' ? 'pt-BR' : 'en';
  const outcome = await cloudApi.sendCode(
    { phoneNumberId, token },
    {
      to: to.e164,
      code,
      template,
      language: templateLanguages(options.englishTemplateLanguage)[locale],
      attempt: { sendId: options.sendId, number: 1 },
      identityHash: null,
    },
  );
  if (outcome.kind !== 'accepted') {
    const number = outcome.errorCode === null ? '' : ` (error ${outcome.errorCode})`;
    return englishStep(name, 'failed', `Meta did not accept the test message${number}: ${outcome.reason}`);
  }
  const startedAt = performance.now();
  let statuses: string[] = [];
  const has = (...names: string[]): boolean => names.some((status) => statuses.includes(status));
  while (!has('failed', 'delivered', 'read') && performance.now() - startedAt < receiptMs) {
    await wait(RECEIPT_POLL_MS);
    statuses = await options.listStatuses(outcome.messageId);
  }
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
  if (has('failed')) return step(name, 'failed', 'test_failed');
  if (has('delivered', 'read')) return step(name, 'done', 'test_delivered', { code, seconds });
  if (has('sent')) return step(name, 'waiting', 'test_sent', { code, seconds });
  return step(name, 'needs_you', 'test_unreported', { code });
}
