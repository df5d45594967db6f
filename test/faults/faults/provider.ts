import type { Fault as ProviderFault } from '@onecode/simulator';
import type { FaultCluster } from '../cluster/faultCluster.js';
import type { EndFault, Fault } from './fault.js';

/** Longer than a lease and the wait for a receipt together. */
const RECEIPT_DELAY_MS = 14_000;

/** A fault of the provider for every request or for those through one sender. */
const providerFault = (name: string, fault: ProviderFault, scope: 'all' | 'one sender' = 'all'): Fault => ({
  name: `provider: ${name}`,
  family: 'provider',
  holdMs: 2_500,
  answers: 'always',
  async inject(cluster, random) {
    await cluster.simulator.addRule({
      fault,
      ...(scope === 'one sender' && { sender: random.of(cluster.senders).phoneNumberId }),
    });
    return async () => {
      await cluster.simulator.clearRules();
      if (scope === 'one sender') await cluster.resumeSenders();
    };
  },
});

async function loseAnswersAndDelayReceipts(cluster: FaultCluster): Promise<EndFault> {
  cluster.proxies.webhooks.freeze();
  await cluster.simulator.addRule({ fault: { reset: 'after' } });
  return async () => {
    await cluster.simulator.clearRules();
    await cluster.proxies.webhooks.open();
  };
}

export const PROVIDER_FAULTS: readonly Fault[] = [
  providerFault('hangs', { hang: true }),
  providerFault('resets before accepting', { reset: 'before' }),
  providerFault('resets after accepting', { reset: 'after' }),
  providerFault('answers 500', { error: 131000 }),
  providerFault('answers 503 with HTML', { wrongBody: 'html', http: 503 }),
  providerFault('rate limit of the sender (130429)', { error: 130429 }),
  providerFault('rate limit of the app (4)', { error: 4, retryAfter: 1 }),
  providerFault('rate limit of sender and recipient (131056)', { error: 131056 }),
  providerFault('answers 200 without a body', { wrongBody: 'empty' }),
  providerFault('answers 200 without an id', { wrongBody: 'no_id' }),
  providerFault('receipts before the answer', { receiptsBeforeAnswer: true, latencyMs: 50 }),
  providerFault('receipts doubled and reversed', { duplicates: 3, disorder: true }),
  providerFault('fails messages late', { lateFailure: 131026 }),
  providerFault('slow, 1 s', { latencyMs: 1_000 }),
  providerFault('token of one sender invalid (190)', { error: 190 }, 'one sender'),
  providerFault('one sender not registered (133010)', { error: 133010 }, 'one sender'),
  {
    name: 'provider: no answers, and receipts after every deadline',
    family: 'provider',
    holdMs: RECEIPT_DELAY_MS,
    inject: loseAnswersAndDelayReceipts,
  },
];
