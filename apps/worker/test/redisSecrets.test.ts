import type { Fault } from '@onecode/simulator';
import { buildSender, findSecrets, redisContents, until, type Secret } from '@onecode/testing';
import { startWorker, type TestWorker } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';

const TOKEN = 'EAAG-leaked-token-7f3b';
const FAULTS: Fault[] = [
  { duplicates: 1 },
  { error: 131000 },
  { error: 131026 },
  { error: 131009 },
  { wrongBody: 'no_id' },
  { reset: 'after' },
  { lateFailure: 131026 },
];
/** The provider answers a message to this recipient with an error that quotes the whole request. */
const QUOTED = '+5511987660100';
/** The database refuses the outcome of a message to this recipient, with an error that quotes the rows. */
const REFUSED = '+5511987660101';

describe('Redis', () => {
  let environment: WorkerEnvironment;
  let worker: TestWorker;
  let contents: string;
  let ids: string[];
  const secrets: Secret[] = [{ name: 'token', value: TOKEN }];

  beforeAll(async () => {
    environment = await WorkerEnvironment.open(({ headers, body }) =>
      body.includes(QUOTED)
        ? {
            status: 400,
            body: JSON.stringify({ error: { code: 131026, message: headers.authorization + body } }),
          }
        : null,
    );
    worker = await startWorker(environment, { env: { DELIVERY_ATTEMPTS: '2' }, sweepMayFail: true });
    await buildSender(environment.db.database, { token: TOKEN });
    await environment.db.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin
         if new.message_id is not null and (select recipient = '${REFUSED}' from sends where id = new.send_id) then
           raise exception 'refused: %', (select row_to_json(s)::text || row_to_json(new)::text from sends s where id = new.send_id);
         end if;
         return new;
       end $$`,
    );
    await environment.db.sql(
      'create trigger refuse before insert or update on attempts for each row execute function refuse()',
    );

    const recipients = [...FAULTS.map((_, index) => `+551198766000${index}`), QUOTED, REFUSED];
    ids = [];
    for (const [index, recipient] of recipients.entries()) {
      const fault = FAULTS[index];
      const code = `90817263${10 + index}`;
      secrets.push({ name: 'code', value: code }, { name: 'phone', value: recipient.slice(1) });
      if (fault !== undefined) environment.simulator.rules.add({ recipient, fault });
      ids.push(await environment.send(await environment.newCaller(), { recipient, code }));
    }
    for (const id of ids.slice(0, -1))
      await environment.until(id, ({ status }) => status === 'delivered' || status === 'failed');
    await until('a job that failed in the database', async () => {
      contents = await redisContents(environment.redis, environment.prefix);
      return contents.includes('DriverAdapterError') || contents.includes('PrismaClient');
    });
    for (const { id, waId } of environment.simulator.messages())
      secrets.push({ name: 'wamid', value: id.slice('wamid.'.length) }, { name: 'phone', value: waId });
  });
  afterAll(async () => {
    await worker.stop();
    await environment.close();
  });

  it('contains the ids of sends and the reasons of failed jobs', () => {
    for (const id of ids) expect(contents).toContain(id);
    for (const reason of ['rejected_by_provider', 'attempts_exhausted']) expect(contents).toContain(reason);
  });

  it('contains no code, phone number, token or message id, in clear or encoded, after any failure', () => {
    expect(environment.simulator.messages().length).toBeGreaterThan(4);
    expect(findSecrets(contents, secrets)).toEqual([]);
  });
});
