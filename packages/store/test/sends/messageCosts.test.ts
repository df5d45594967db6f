import type { Pricing, Receipt } from '@onecode/domain';
import {
  countMessageCosts,
  deleteOldCountedMessages,
  listMessageCosts,
  newId,
  storeReceipts,
} from '@onecode/store';
import { buildCaller, buildSend, useTestDatabase } from '@onecode/testing';

const PRICE: Pricing = { category: 'authentication', type: 'regular', billable: true, model: 'PMP' };

const store = useTestDatabase();
beforeEach(() => store.sql('truncate receipts, message_costs, counted_messages'));

/** A live send with a message. @returns the attempt's and the message's id */
async function message(
  account = { freeQuota: 0, credits: 1 },
): Promise<{ attemptId: string; messageId: string }> {
  const sendId = await buildSend(store.database, await buildCaller(store.database, 'live', account));
  const attemptId = newId();
  const messageId = `wamid.${attemptId}`;
  await store.sql(
    `insert into attempts (id, send_id, outcome, message_id, finished_at) values ($1, $2, 'accepted', $3, now())`,
    [attemptId, sendId, messageId],
  );
  return { attemptId, messageId };
}

type Reported = Pick<Receipt, 'messageId' | 'attemptId'>;
/** Stores receipts of today. @returns their ids */
const report = (of: Reported, statuses: readonly Receipt['status'][], pricing: Pricing | null = PRICE) =>
  storeReceipts(
    store.database,
    statuses.map((status) => ({
      messageId: of.messageId,
      attemptId: of.attemptId,
      status,
      occurredAt: new Date(),
      failure: null,
      ...(pricing !== null && { pricing }),
    })),
  );
const count = (ids: readonly bigint[]) => countMessageCosts(store.database, ids);
const costs = () => listMessageCosts(store.database, 1);
const today = () => new Date().toISOString().slice(0, 10);

describe('what messages cost', () => {
  it('is counted once for each message, however often and in whatever order its receipts are handled', async () => {
    const one = await message();
    const other = await message({ freeQuota: 1, credits: 0 });
    const ids = [
      ...(await report(one, ['delivered', 'sent'])),
      ...(await report(other, ['sent'])),
      // The provider need not send our attempt's id along.
      ...(await report({ ...other, attemptId: null }, ['delivered', 'sent'])),
    ];
    for (const id of ids) await count([id]);
    await count(ids.toReversed());
    expect(await costs()).toEqual([
      {
        day: today(),
        country: 'BR',
        category: 'authentication',
        type: 'regular',
        billable: true,
        pricingModel: 'PMP',
        messages: 2,
        delivered: 2,
        freeSends: 1,
        credits: 1,
      },
    ]);
  });

  it('is counted exactly by many at a time', async () => {
    const messages = await Promise.all(Array.from({ length: 10 }, () => message()));
    const ids = (await Promise.all(messages.map((one) => report(one, ['sent', 'delivered', 'read'])))).flat();
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => count(n % 2 === 0 ? ids : ids.slice(n).toReversed())),
    );
    expect(await costs()).toMatchObject([{ messages: 10, delivered: 10, credits: 10 }]);
  });

  it('is charged for delivered messages only, and nobody’s message counts', async () => {
    await count(await report(await message(), ['sent', 'failed']));
    await count(await report(await message(), ['delivered'], null));
    await count(await report({ messageId: 'wamid.foreign', attemptId: newId() }, ['delivered']));
    expect(await costs()).toMatchObject([{ messages: 1, delivered: 0, credits: 0 }]);
  });

  it('is kept apart by country, category, type and whether it is charged', async () => {
    const prices = [
      PRICE,
      { ...PRICE, category: 'marketing' },
      { ...PRICE, type: 'free_customer_service', billable: false },
      { ...PRICE, model: 'CBP' },
    ];
    for (const price of prices) await count(await report(await message(), ['delivered'], price));
    const one = await message();
    await store.sql(
      'update sends set country = null where id = (select send_id from attempts where id = $1)',
      [one.attemptId],
    );
    await count(await report(one, ['delivered']));
    const found = await costs();
    expect(found).toHaveLength(5);
    expect(found.map(({ messages }) => messages)).toEqual([1, 1, 1, 1, 1]);
    expect(found.at(-1)).toMatchObject({ country: 'ZZ' });
  });

  it('stays when it is forgotten which messages are counted, and so does what is young', async () => {
    const ids = await report(await message(), ['delivered']);
    await count(ids);
    expect(await deleteOldCountedMessages(store.database, 8, 10)).toBe(0);
    expect(await deleteOldCountedMessages(store.database, -1, 10)).toBe(2);
    expect(await costs()).toMatchObject([{ messages: 1 }]);
  });
});
