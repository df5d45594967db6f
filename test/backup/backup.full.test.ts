import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createApiKey, revokeApiKey } from '@onecode/store/accounts';
import { placeHold, releaseHold } from '@onecode/store/holds';
import { verifyLedger } from '@onecode/store/reports';
import {
  buildCaller,
  connectTestDatabase,
  describeIf,
  ProcessStack,
  startProcess,
  TEST_ACTOR,
  until,
  type TestCaller,
} from '@onecode/testing';
import { DatabaseServers, hasPostgres, type Begun } from './databaseServer.js';

const WALK_MS_MAX = 300_000;
const STEP_MS_MAX = 60_000;
const CLIENTS = 6;
/** Fewer than the sender can send per second: an account's newest send is sent first, so with more the oldest would keep waiting. */
const SENDS_PER_SECOND = 40;
const CODE = '135790';
/** Sends that each part of a walk waits for. */
const SOME = 60;
/** A country that is held while the backup is made. */
const HELD = { kind: 'country', target: 'PT' } as const;

interface Accepted {
  id: string;
  /** The number of accepted sends when this one was requested. */
  begunAt: number;
  to: string;
  idempotencyKey: string;
}

/** Clients that create sends one after the other until one is refused, and the answers that they got. */
class Load {
  readonly accepted: Accepted[] = [];
  readonly ended: Promise<unknown>;
  static #recipients = 0;

  constructor(stack: ProcessStack, key: string, sendsMax = Infinity) {
    let begun = 0;
    this.ended = Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (begun < sendsMax) {
          begun += 1;
          const begunAt = this.accepted.length;
          const to = `+5511987${String(100_000 + (Load.#recipients += 1))}`;
          const idempotencyKey = randomUUID();
          const parts = { headers: { 'idempotency-key': idempotencyKey } };
          const send = await stack.create(key, { to, code: CODE }, parts).catch(() => null);
          if (send === null) return;
          this.accepted.push({ id: send.id, begunAt, to, idempotencyKey });
          await delay((1_000 * CLIENTS) / SENDS_PER_SECOND);
        }
      }),
    );
  }

  /** Waits for more accepted sends. */
  async more(): Promise<void> {
    const wanted = this.accepted.length + SOME;
    await until('more sends', () => this.accepted.length >= wanted, STEP_MS_MAX);
  }
}

describeIf(hasPostgres)('a restore from the archive, and one from a dump', () => {
  let servers: DatabaseServers;
  let stack: ProcessStack;
  let caller: TestCaller;

  beforeAll(async () => {
    servers = new DatabaseServers();
    await servers.start('old');
    const migration = startProcess('packages/store/dist/migrate.js', {
      DATABASE_URL: servers.url('onecode_owner'),
    });
    if ((await migration.exited).code !== 0) throw new Error(migration.output());
    const db = connectTestDatabase(servers.url('onecode_service'));
    stack = await ProcessStack.start({ db });
    await stack.addSender();
    caller = await buildCaller(db.database, 'live', { credits: 100_000, ratePerMinute: 1_000_000 });
  }, WALK_MS_MAX);
  afterAll(async () => {
    await stack.stop();
    await servers.stop();
  }, WALK_MS_MAX);

  const sql: ProcessStack['db']['sql'] = (text, values) => stack.db.sql(text, values);
  /** Runs documented commands as the operator. The test starts and stops the processes. */
  const operate = (commands: string): Promise<string> => {
    const onecode = `${process.execPath} ${process.cwd()}/apps/cli/dist/main.js`;
    return servers.run(
      `onecode() { DATABASE_URL=${servers.url('onecode_service')} ${onecode} "$@"; }
       systemctl() {
         [ "$2" != onecode-migrate ] || DATABASE_URL=${servers.url('onecode_owner')} ${process.execPath} ${process.cwd()}/packages/store/dist/migrate.js
       }
       ${commands}`,
      false,
    );
  };
  const idsOf = (sends: readonly Accepted[]): string[] => sends.map(({ id }) => id);
  async function storedOf(sends: readonly Accepted[]): Promise<number> {
    return (await sql('select from sends where id = any ($1)', [idsOf(sends)])).length;
  }
  const messagesTo = async (to: string): Promise<number> => (await stack.simulator.messages(to)).length;

  /** Makes the archive and its base backup, as the page describes. */
  async function beginArchive(): Promise<Begun> {
    const [role, folders, receive, nightly] = servers.documented('Continuous archiving');
    await servers.run(role!.replace(/\$\(openssl [^)]*\)/, 'password'));
    await servers.run(folders!);
    const variables = folders!.split('\n')[0]!;
    const receiver = servers.begin(`${variables}\n${receive}`);
    await servers.run(`${variables}\n${nightly}`);
    return receiver;
  }
  async function restoreUntil(name: string, time: string): Promise<void> {
    const values = {
      '/etc/postgresql/15/main': servers.dataFolder(name),
      '/var/lib/postgresql/15/main': servers.dataFolder(name),
      'UNTIL=': `UNTIL='${time}'`,
    };
    const from = performance.now();
    await servers.run(servers.documented('From the archive', values).join(''));
    const seconds = ((performance.now() - from) / 1_000).toFixed(1);
    report(`the archive until ${time === '' ? 'its end' : 'a moment'} took ${seconds} s`);
  }

  async function walk(): Promise<void> {
    const { database } = stack.db;
    const { key, applicationId, accountId } = caller;
    const revoked = (await createApiKey(database, TEST_ACTOR, applicationId))!;
    const create = (to: string) => stack.create(key, { to, code: CODE });

    // Before the backup: sends wait under a hold, and one was delivered and is not verified yet.
    await placeHold(database, TEST_ACTOR, { ...HELD, reason: 'pumping' });
    const [again, late, failing] = ['+351912345671', '+351912345672', '+351912345673'] as const;
    const [sentTwice, expired, failed] = [await create(again), await create(late), await create(failing)];
    for (const { id } of [sentTwice, expired, failed]) await stack.untilWaiting(id);
    const pending = await create('+5511987000001');
    await stack.untilStatus(key, pending.id, 'delivered');
    const load = new Load(stack, key);
    await load.more();
    const receiver = await beginArchive();
    await load.more();
    const before = [...load.accepted];
    await servers.run(servers.documented('A dump').join(''), false);
    const moment = await servers.ask('select clock_timestamp()');

    // What the backup lacks.
    const acceptedBefore = load.accepted.length;
    await stack.simulator.addRule({ recipient: failing, fault: { error: 131026 } });
    await releaseHold(database, TEST_ACTOR, HELD);
    for (const { id } of [sentTwice, expired]) await stack.untilStatus(key, id, 'delivered');
    await stack.untilStatus(key, failed.id, 'failed');
    expect(await stack.verify(key, pending.id, CODE)).toMatchObject({ valid: true });
    await revokeApiKey(database, TEST_ACTOR, revoked.id);
    const made = (await createApiKey(database, TEST_ACTOR, applicationId))!;
    await load.more();
    const lost = load.accepted.filter(({ begunAt }) => begunAt > acceptedBefore);
    const repeated = lost[0]!;
    await stack.untilStatus(key, repeated.id, 'delivered');
    await operate(servers.documented('What else to keep').join(''));
    const received = [...load.accepted];
    const position = await servers.ask('select pg_current_wal_flush_lsn()');
    const question = `select flush_lsn >= '${position}' from pg_stat_replication`;
    await until('the archive to have all of it', async () => (await servers.ask(question)) === 't');
    await servers.crash('old');
    await load.ended;

    await stack.stopWorker(0);
    await stack.stopApi(0);
    await receiver.stop();
    await servers.start('dump');
    await servers.run(servers.documented('From a dump').join(''), false);
    expect(await storedOf(before)).toBe(before.length);
    expect((await verifyLedger(database, 1_000)).faults).toEqual([]);
    await servers.crash('dump');
    await restoreUntil('end', '');
    report(`lost at the end of the archive: ${load.accepted.length - (await storedOf(load.accepted))}`);
    expect(await storedOf(received)).toBe(received.length);
    await servers.crash('end');
    await restoreUntil('new', moment);
    const [mend, start, release] = servers.documented('Before processes start');
    const found = await operate(mend!);
    expect(found).toMatch(/^hold_live +yes +Live sends are held .*; [1-9]\d* wait /m);
    expect(found).toMatch(
      new RegExp(`^audit_\\d+ +yes .*: key.revoke ${revoked.id} .* has been repeated.$`, 'm'),
    );
    for (const lostChange of ['hold.release PT', `key.create ${made.id}`])
      expect(found).toMatch(new RegExp(`^audit_\\d+ +- .*: ${lostChange} .* is lost\\.$`, 'm'));
    expect([await storedOf(before), await storedOf(lost)]).toEqual([before.length, 0]);

    // One code expires before sends are released.
    await sql(
      `update sends set created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour', due_at = now()
     where id = $1`,
      [expired.id],
    );
    await stack.replaceApi(0);
    await stack.restartWorker(0);
    await operate(start!);

    // Restored and lost data.
    const post = (send: Pick<Accepted, 'to' | 'idempotencyKey'>, with_ = key) =>
      stack.request('POST', '/v1/send', {
        key: with_,
        body: { to: send.to, code: CODE },
        headers: { 'idempotency-key': send.idempotencyKey },
      });
    const other = { to: '+5511987000002', idempotencyKey: randomUUID() };
    for (const { key: refused } of [revoked, made]) expect((await post(other, refused)).status).toBe(401);
    expect((await post(before[0]!)).body).toMatchObject({ id: before[0]!.id });
    expect((await stack.request('GET', `/v1/send/${repeated.id}/status`, { key })).status).toBe(404);
    const second = await post(repeated);
    expect([second.status, second.body['id'] === repeated.id]).toEqual([202, false]);
    expect(await stack.verify(key, pending.id, CODE)).toMatchObject({ valid: true });
    await stack.untilStatus(key, expired.id, 'failed');
    for (const { id } of [sentTwice, failed, { id: String(second.body['id']) }]) await stack.untilWaiting(id);
    const messages = async () => [
      await messagesTo(again),
      await messagesTo(late),
      await messagesTo(repeated.to),
    ];
    expect(await messages()).toEqual([1, 1, 1]);

    // All sends continue after the release of the hold.
    await operate(release!);
    await operate('onecode hold release country PT');
    await stack.untilStatus(key, sentTwice.id, 'delivered');
    await stack.untilStatus(key, failed.id, 'failed');
    await stack.untilStatus(key, String(second.body['id']), 'delivered');
    expect(await messages()).toEqual([2, 1, 2]);
    const next = new Load(stack, key, SOME);
    await next.ended;
    expect(next.accepted).toHaveLength(SOME);
    await until(
      'the end of all sends',
      async () => {
        const [row] = await sql<{ open: number }>(
          `select count(*)::integer as open from sends where status in ('queued', 'sending')`,
        );
        return row!.open === 0;
      },
      STEP_MS_MAX,
    );
    for (const { to } of next.accepted) expect(await messagesTo(to)).toBe(1);

    // Granted units equal units left plus units on sends that did not fail; each failed send returned its unit once.
    const [units] = await sql(
      `select (select sum(units) from ledger_entries where account_id = a.id and kind = 'granted')::integer as given,
       a.free_quota + a.credits + (select count(*) from sends s where s.account_id = a.id and status <> 'failed')::integer as kept,
       (select count(*) from ledger_entries where account_id = a.id and kind = 'returned')::integer as returned,
       (select count(*) from sends s where s.account_id = a.id and status = 'failed')::integer as failed
     from accounts a where id = $1`,
      [accountId],
    );
    expect(units).toMatchObject({ kept: units!['given'], returned: 2, failed: 2 });
    const twice = (await Promise.all(before.map(async ({ to }) => (await messagesTo(to)) > 1))).filter(
      Boolean,
    );
    report(
      `${before.length} sends of before the backup are all there, ${load.accepted.length - (await storedOf(load.accepted))} ` +
        `of ${load.accepted.length} are lost, ${twice.length} of those that are there went out twice`,
    );
  }

  it(
    'keeps all changes that the backup received, or those before a chosen time, and delivery continues',
    walk,
    WALK_MS_MAX,
  );
});

const report = (line: string): boolean => process.stdout.write(`${line}\n`);
