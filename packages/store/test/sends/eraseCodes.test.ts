import { eraseExpiredCodes } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase } from '@onecode/testing';
import { v7 as uuidv7 } from 'uuid';

const store = useTestDatabase();
const SENT = `status = 'sent', channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender, sent_at = now(),
  due_at = null, next_enqueue_at = null`;

let senderId: string;
let model: string;
let numbers = 1000;
beforeEach(async () => {
  await store.sql('truncate senders, accounts cascade');
  await store.sql(`update code_erasure set up_to = '00000000-0000-0000-0000-000000000000'`);
  senderId = (await buildSender(store.database)).id;
  model = await buildSend(store.database, await buildCaller(store.database, 'live', { credits: 100 }));
});

/** A send that was created so many seconds ago, with its code valid for ten minutes. */
async function sendOf(secondsAgo: number, change = SENT, lifeSeconds = 600): Promise<string> {
  const createdAt = new Date(Date.now() - secondsAgo * 1000);
  const id = uuidv7({ msecs: createdAt.getTime() });
  numbers += 1;
  await store.sql(
    `insert into sends select (jsonb_populate_record(s, jsonb_build_object('id', $2::uuid, 'account_number', $3::bigint,
       'application_number', $3::bigint, 'created_at', $4::timestamptz, 'expires_at', $4::timestamptz + $5::interval))).*
     from sends s where id = $1`,
    [model, id, numbers, createdAt, `${lifeSeconds} seconds`],
  );
  await store.sql(`update sends set ${change.replace(':sender', `'${senderId}'`)} where id = '${id}'`);
  return id;
}

const withCodes = async (): Promise<string[]> =>
  (
    await store.sql<{ id: string }>(
      'select id from sends where sealed_code is not null and id <> $1 order by id',
      [model],
    )
  ).map(({ id }) => id);

/** Erases until nothing is left to look at. @returns how many sends were looked at */
async function eraseAll(limit = 500): Promise<number> {
  let all = 0;
  for (let looked = 1; looked > 0; all += looked) looked = await eraseExpiredCodes(store.database, limit);
  return all;
}

describe('the codes of sent messages', () => {
  it('are erased once they have expired, and no others are', async () => {
    const waiting = await sendOf(900, 'awaiting_sender = true');
    const lost = await sendOf(
      890,
      SENT.replaceAll('= null', '= now()').replace('sent_at', 'lost_at = now(), sent_at'),
    );
    const [version] = await store.sql<{ version: number }>('select version from sends where id = $1', [
      model,
    ]);
    const expired = await sendOf(880);
    const living = await sendOf(300);
    await eraseAll();
    expect(await withCodes()).toEqual([waiting, lost, living]);
    const [row] = await store.sql('select status, version from sends where id = $1', [expired]);
    expect(row).toEqual({ status: 'sent', version: version!.version + 1 });
  });

  it('are looked at once, in the order of creation, however few at a time', async () => {
    for (let nth = 0; nth < 7; nth++) await sendOf(1_000 - nth);
    expect(await eraseAll(3)).toBe(7);
    expect(await withCodes()).toEqual([]);
    expect(await eraseAll(3)).toBe(0);
  });

  it('behind one that lives longer wait for it, and are not forgotten', async () => {
    await sendOf(2_000, SENT, 5_400);
    await sendOf(1_500);
    expect(await eraseAll()).toBe(0);
    await store.sql(
      `update sends set expires_at = now() - interval '1 second' where id <> $1 and expires_at > now()`,
      [model],
    );
    expect(await eraseAll()).toBe(2);
    expect(await withCodes()).toEqual([]);
  });

  it('of the last minute stay: ids are made before their sends', async () => {
    const young = await sendOf(30, SENT, 1);
    expect(await eraseAll()).toBe(0);
    expect(await withCodes()).toEqual([young]);
  });

  it('are erased once by any number of callers', async () => {
    for (let nth = 0; nth < 20; nth++) await sendOf(1_000 - nth);
    const looked = await Promise.all(Array.from({ length: 8 }, () => eraseAll(2)));
    expect(looked.reduce((sum, one) => sum + one)).toBe(20);
    expect(await withCodes()).toEqual([]);
    const versions = await store.sql<{ version: number }>(
      'select distinct version from sends where id <> $1',
      [model],
    );
    expect(versions).toHaveLength(1);
  });
});
