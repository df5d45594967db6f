import type { Fault as ProviderFault } from '@onecode/simulator';
import type { House } from '../house/house.js';
import type { Random } from '../load/plan.js';
import type { EndFault, Fault } from './fault.js';

/** Longer than a lease and the wait for a receipt together: these come past everything. */
const RECEIPTS_LATE_MS = 14_000;

/** The provider does this to every request, or to those through one sender. */
const rule = (name: string, fault: ProviderFault, scope: 'all' | 'one sender' = 'all'): Fault => ({
  name: `provider: ${name}`,
  family: 'provider',
  holdMs: 2_500,
  answers: 'always',
  async inject(house, random) {
    await house.simulator.addRule({
      fault,
      ...(scope === 'one sender' && { sender: random.of(house.senders).phoneNumberId }),
    });
    return async () => {
      await house.simulator.clearRules();
      if (scope === 'one sender') await house.resumeSenders();
    };
  },
});

async function holdReceipts(house: House, _random: Random): Promise<EndFault> {
  house.links.webhooks.freeze();
  await house.simulator.addRule({ fault: { reset: 'after' } });
  return async () => {
    await house.simulator.clearRules();
    await house.links.webhooks.open();
  };
}

export const PROVIDER: readonly Fault[] = [
  rule('hangs', { hang: true }),
  rule('resets before accepting', { reset: 'before' }),
  rule('resets after accepting', { reset: 'after' }),
  rule('answers 500', { error: 131000 }),
  rule('answers 503 without words', { wrongBody: 'html', http: 503 }),
  rule('rate limit of the sender (130429)', { error: 130429 }),
  rule('rate limit of the app (4)', { error: 4, retryAfter: 1 }),
  rule('rate limit of the pair (131056)', { error: 131056 }),
  rule('answers 200 without a body', { wrongBody: 'empty' }),
  rule('answers 200 without an id', { wrongBody: 'no_id' }),
  rule('receipts before the answer', { receiptsBeforeAnswer: true, latencyMs: 50 }),
  rule('receipts doubled and reversed', { duplicates: 3, disorder: true }),
  rule('fails messages late', { lateFailure: 131026 }),
  rule('slow, 1 s', { latencyMs: 1_000 }),
  rule('token of one sender invalid (190)', { error: 190 }, 'one sender'),
  rule('one sender not registered (133010)', { error: 133010 }, 'one sender'),
  {
    name: 'provider: no answers, and receipts past everything',
    family: 'provider',
    holdMs: RECEIPTS_LATE_MS,
    inject: holdReceipts,
  },
];
