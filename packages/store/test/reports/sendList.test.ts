import { DELIVERY_STATES, type Verification } from '@onecode/domain';
import { changeSetting, listSends, type SendFilter, type SendSummary } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { hasExpired, insertSends, type PastSend } from './pastSends.js';

const store = useTestDatabase();
let live: TestCaller;
let other: TestCaller;
let test: TestCaller;
let stranger: TestCaller;
beforeAll(async () => {
  // Many to one recipient.
  await changeSetting(store.database, TEST_ACTOR, 'guessBudget', null);
  await buildSender(store.database);
  live = await buildCaller(store.database, 'live', { credits: 1000, ratePerMinute: 10_000 });
  other = await buildCaller(store.database, 'live', { id: live.accountId });
  test = await buildCaller(store.database, 'test', { id: live.accountId });
  stranger = await buildCaller(store.database, 'live', { credits: 1000 });
});

/** The pages of a list, each of so many sends at the most. */
async function pagesOf(
  filter: SendFilter,
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<SendSummary[][]> {
  const pages: SendSummary[][] = [];
  for (let before: string | null | undefined; before !== null;) {
    const page = await listSends(store.database, live.accountId, filter, {
      limit,
      ...(before !== undefined && { before }),
    });
    pages.push(page.sends);
    before = page.next;
    if (before !== null) await between();
  }
  return pages;
}
const idsOf = (pages: readonly SendSummary[][]): string[] => pages.flat().map(({ id }) => id);

const VERIFICATIONS: readonly Verification[] = ['pending', 'verified', 'locked', 'expired'];
const PHONES = ['+5511900000001', '+5511900000002', '+5511900000003'];
const start = Date.now() - 40 * 60_000;
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

/**
 * Forty minutes in every state that there can be, a send of each application of two accounts at the same time. No code expires
 * while the tests run.
 */
const past = (): PastSend[] =>
  Array.from({ length: 400 }, (_, n) => {
    const caller = pick([live, other, test, stranger], n);
    return {
      caller,
      at: new Date(start + 5_000 * (n - (n % 4)) + (n < 300 ? 0 : 400_000)),
      recipient: pick(PHONES, Math.floor(n / 7)),
      locale: 'en',
      status:
        caller.mode === 'test'
          ? pick(['queued', 'read'] as const, n)
          : pick(DELIVERY_STATES, Math.floor(n / 5)),
      verification: pick(['pending', 'verified', 'pending', 'locked', 'pending'] as const, Math.floor(n / 3)),
      deliveryMs: 2_000,
    };
  });

describe('the list of sends', () => {
  let sends: (PastSend & { id: string })[];
  beforeAll(async () => {
    const given = past();
    const ids = await insertSends(store, given);
    sends = given.map((send, n) => ({ ...send, id: ids[n] as string }));
  });

  /** The sends that a filter means, by looking at every one. */
  const meant = (filter: SendFilter, of = live): string[] =>
    sends
      .filter(
        (send) =>
          send.caller.accountId === of.accountId &&
          (filter.applicationId ?? send.caller.applicationId) === send.caller.applicationId &&
          (filter.mode ?? send.caller.mode) === send.caller.mode &&
          (filter.status ?? send.status) === send.status &&
          (filter.canonicalRecipient ?? send.recipient) === send.recipient &&
          (filter.createdFrom ?? send.at) <= send.at &&
          (filter.createdTo === undefined || send.at < filter.createdTo) &&
          (filter.verification === undefined ||
            filter.verification ===
              (send.verification === 'pending' && hasExpired(send) ? 'expired' : send.verification)),
      )
      .map(({ id }) => id)
      .toReversed();

  const scopes = (): SendFilter[] => [
    {},
    { applicationId: other.applicationId },
    { mode: 'live' },
    { mode: 'test' },
  ];
  const times: SendFilter[] = [
    {},
    { createdFrom: new Date(start + 240_000), createdTo: new Date(start + 1_480_000) },
    { createdFrom: new Date(start + 240_001) },
    { createdTo: new Date(start + 1_480_001) },
  ];

  it.each([undefined, ...DELIVERY_STATES])(
    'has what is asked for, and no more, with the status %s',
    async (status) => {
      let found = 0;
      for (const scope of scopes())
        for (const verification of [undefined, ...VERIFICATIONS])
          for (const canonicalRecipient of [undefined, PHONES[1]])
            for (const time of times) {
              const filter: SendFilter = {
                ...scope,
                ...time,
                ...(status !== undefined && { status }),
                ...(verification !== undefined && { verification }),
                ...(canonicalRecipient !== undefined && { canonicalRecipient }),
              };
              const ids = idsOf(await pagesOf(filter, 150));
              expect({ filter, ids }).toEqual({ filter, ids: meant(filter) });
              found += ids.length;
            }
      expect(found).toBeGreaterThan(100);
    },
  );

  it.each([
    ['all', {}],
    ['of one mode', { mode: 'live' }],
    ['that failed', { status: 'failed' }],
    ['to one recipient', { canonicalRecipient: PHONES[0] as string }],
  ] as const)('turns pages without a gap or a repeat while new sends come: %s', async (_, filter) => {
    const before = idsOf(await pagesOf(filter, 1000));
    const pages = await pagesOf(filter, 7, async () => {
      for (const caller of [live, test])
        await buildSend(store.database, caller, { recipient: PHONES[0] as string });
    });
    expect(pages.length).toBeGreaterThan(2);
    expect(idsOf(pages)).toEqual(before);
    expect(pages.slice(0, -1).filter((page) => page.length !== 7)).toEqual([]);
  });

  it('has the sends that share a time on one page or the next', async () => {
    const at = new Date();
    const ids = await insertSends(
      store,
      Array.from({ length: 9 }, () => ({ ...sends[0]!, caller: live, at, recipient: '+5511900000009' })),
    );
    expect(idsOf(await pagesOf({ canonicalRecipient: '+5511900000009' }, 2))).toEqual(ids.toReversed());
  });
});
