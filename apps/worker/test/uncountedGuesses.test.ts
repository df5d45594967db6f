import { buildSend, until, type TestCaller } from '@onecode/testing';
import { startWorker } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';

const GUESSES = 5;

describe('wrong guesses that could not be written when they were judged', () => {
  let environment: WorkerEnvironment;
  let caller: TestCaller;
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
    caller = await environment.caller('test');
  });
  afterAll(() => environment.close());

  it('are written by a worker, and one that still cannot be holds up no other', async () => {
    const { database } = environment.db;
    const sql = (text: string, values: unknown[] = []) => environment.db.sql(text, values);
    const stuck = await buildSend(database, caller);
    const guessed = await buildSend(database, caller);
    await sql(
      `create function raises() returns trigger language plpgsql as $$ begin raise exception 'of a test'; end $$`,
    );
    await sql(
      `create trigger of_a_test before update on sends for each row
       when (new.id = '${stuck}' and new.wrong_guesses > old.wrong_guesses) execute function raises()`,
    );
    for (const id of [stuck, guessed])
      await sql(
        'insert into uncounted_guesses (send_id, judged_at) select $1::uuid, now() + make_interval(secs => n) from generate_series(1, $2::integer) n',
        [id, GUESSES],
      );
    const stateOf = async (id: string) =>
      (await sql('select verification, wrong_guesses from sends where id = $1', [id]))[0];
    const worker = await startWorker(environment);
    await until(
      'a lock',
      async () => ((await stateOf(guessed)) as { verification: string }).verification === 'locked',
    );
    expect(await stateOf(guessed)).toEqual({ verification: 'locked', wrong_guesses: GUESSES });
    expect(await stateOf(stuck)).toEqual({ verification: 'pending', wrong_guesses: 0 });

    await sql('drop trigger of_a_test on sends');
    await sql('update uncounted_guesses set due_at = now()');
    await until(
      'the other lock',
      async () => ((await stateOf(stuck)) as { verification: string }).verification === 'locked',
    );
    await until('nothing left', async () => (await sql('select from uncounted_guesses')).length === 0);
    await worker.stop();
  });
});
