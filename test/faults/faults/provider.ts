import type { Fault as ProviderFault, NewThrottle } from '@onecode/simulator';
import { BUSINESS_ACCOUNTS, type FaultCluster } from '../cluster/faultCluster.js';
import { Random } from '../load/plan.js';
import type { EndFault, Fault } from './fault.js';

/** Longer than a lease and the wait for a receipt together. */
const RECEIPT_DELAY_MS = 14_000;

/** A fault of the provider for every request, or for requests of one sender or one business account. */
const providerFault = (
  name: string,
  fault: ProviderFault,
  scope: 'all' | 'one sender' | 'one business account' = 'all',
): Fault => ({
  name: `provider: ${name}`,
  family: 'provider',
  holdMs: 2_500,
  answers: 'always',
  async inject(cluster, random) {
    await cluster.simulator.addRule({
      fault,
      ...(scope === 'one sender' && { sender: random.of(cluster.senders).phoneNumberId }),
      ...(scope === 'one business account' && { wabaId: random.of(BUSINESS_ACCOUNTS) }),
    });
    return async () => {
      await cluster.simulator.clearRules();
      if (scope !== 'all') await cluster.resumeSenders();
    };
  },
});

/** Longer than all attempts of a send take. */
const THROTTLE_MS = 8_000;
/**
 * A throttle of everything causes only a few calls, independent of the number of waiting sends: some probes and, after each that succeeds,
 * the calls that are under way when the limit is reached again.
 */
const THROTTLED_CALLS_MAX = 100;

/** A lasting throttle of one sender if its scope has one, of one business account, or of everything. */
const throttleFault = (
  name: string,
  { scope, ...answer }: Pick<NewThrottle, 'scope' | 'http' | 'retryAfter' | 'ratePerSecond'>,
): Fault => ({
  name: `provider: throttles ${name}`,
  family: 'provider',
  // The last probe before the end may be followed by a wait of 15 s.
  recoveryMs: 20_000,
  holdMs: THROTTLE_MS,
  answers: 'always',
  async inject({ simulator, senders }, random) {
    const { id } = await simulator.addThrottle({
      scope,
      ...answer,
      ...((scope === 'sender' || scope === 'pair') && { sender: random.of(senders).phoneNumberId }),
      ...(scope === 'business_account' && { wabaId: random.of(BUSINESS_ACCOUNTS) }),
      forMs: 10 * THROTTLE_MS,
    });
    return async () => {
      const { calls } = await simulator.endThrottle(id);
      return scope === 'app' && calls > THROTTLED_CALLS_MAX
        ? [`${calls} calls during the throttle, goal ${THROTTLED_CALLS_MAX}`]
        : [];
    };
  },
});

/** A change by Meta with a webhook, undone at the end. */
const changeFault = (
  name: string,
  change: (cluster: FaultCluster, random: Random, isBack: boolean) => Promise<void>,
): Fault => ({
  name: `provider: ${name}`,
  family: 'provider',
  holdMs: 4_000,
  answers: 'always',
  async inject(cluster, random) {
    const seed = random.between(1, 1_000_000);
    await change(cluster, new Random(seed), false);
    return async () => {
      await change(cluster, new Random(seed), true);
      await cluster.resumeSenders();
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
  providerFault(
    'account fault of one sender, late (131042)',
    { lateFailure: 131042, lateFailureMs: 300 },
    'one sender',
  ),
  providerFault(
    'one business account locked, late (131031)',
    { lateFailure: 131031, lateFailureMs: 300 },
    'one business account',
  ),
  providerFault('one business account refused (368)', { error: 368 }, 'one business account'),
  throttleFault('one sender and each recipient (131056)', { scope: 'pair' }),
  throttleFault('one sender (130429)', { scope: 'sender', retryAfter: true }),
  throttleFault('one business account (80007)', { scope: 'business_account' }),
  throttleFault('the app (4)', { scope: 'app' }),
  throttleFault('the app (4), one call a second passes', { scope: 'app', ratePerSecond: 1 }),
  throttleFault('everything with 503 and no code', { scope: 'app', http: 503, retryAfter: 2 }),
  throttleFault('one sender with 429 and no code', { scope: 'sender', http: 429 }),
  changeFault('one business account disabled', ({ simulator }, random, isBack) =>
    simulator.changeAccount(random.of(BUSINESS_ACCOUNTS), { condition: isBack ? 'active' : 'disabled' }),
  ),
  changeFault('a template paused in one language of one business account', ({ simulator }, random, isBack) =>
    simulator.changeTemplate(
      {
        wabaId: random.of(BUSINESS_ACCOUNTS),
        name: 'verification_code',
        language: random.of(['pt_BR', 'en']),
      },
      { status: isBack ? 'APPROVED' : 'PAUSED' },
    ),
  ),
  {
    name: 'provider: no answers, and receipts after every deadline',
    family: 'provider',
    holdMs: RECEIPT_DELAY_MS,
    inject: loseAnswersAndDelayReceipts,
  },
];
