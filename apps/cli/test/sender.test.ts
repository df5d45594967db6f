import { randomBytes } from 'node:crypto';
import { parseKeyring, unseal } from '@onecode/domain';
import { coolDownSender, newId } from '@onecode/store';
import { buildSender, useTestDatabase } from '@onecode/testing';
import { expectFault, ID, jsonOf, onecode, TIME, UNKNOWN_ID } from './onecode.js';

const SECRET_KEY = randomBytes(32).toString('base64');
const TOKEN = 'EAAGplantedTokenOfASender';

const store = useTestDatabase();
let env: Record<string, string>;
beforeAll(async () => {
  env = { DATABASE_URL: store.url, SECRET_KEY };
});
beforeEach(() => store.sql('delete from senders'));

const add = (...rest: string[]): string[] => [
  'sender',
  'add',
  '--phone-number-id',
  '106540352242922',
  '--number',
  '+15550783881',
  ...rest,
];
const ACTIVE = {
  throughput: 80,
  state: 'active',
  paused_until: null,
  pause_reason: null,
  faults: 0,
  created_at: TIME,
};
const ADDED = {
  ...ACTIVE,
  id: ID,
  phone_number_id: '106540352242922',
  number: '+15550783881',
  template: 'verification_code',
  english: 'en',
};

/** Every row of every table as text; bytes are in hexadecimal. */
async function dump(): Promise<string> {
  const tables = await store.sql<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => store.sql<{ line: string }>(`select t::text as line from "${name}" t`)),
  );
  return rows
    .flat()
    .map(({ line }) => line)
    .join('\n');
}

async function tokenOf(id: string): Promise<string> {
  const [row] = await store.sql<{ sealed_token: Buffer }>('select sealed_token from senders where id = $1', [
    id,
  ]);
  return unseal(parseKeyring(SECRET_KEY), id, row?.sealed_token ?? Buffer.alloc(0));
}

describe('sender add', () => {
  it('adds an active sender whose token is stored sealed and nowhere else', async () => {
    const added = (await jsonOf(add('--token', TOKEN), env)) as { id: string };
    expect(added).toEqual(ADDED);
    expect(await tokenOf(added.id)).toBe(TOKEN);
    const everything = await dump();
    expect(everything).toContain('106540352242922');
    expect(everything).not.toContain(TOKEN);
    expect(everything).not.toContain(Buffer.from(TOKEN).toString('hex'));
  });

  it('reads the token from standard input', async () => {
    const added = (await jsonOf(add('--token', '-'), env, `${TOKEN}\n`)) as { id: string };
    expect(added).toEqual(ADDED);
    expect(await tokenOf(added.id)).toBe(TOKEN);
  });

  it('normalises the number, and takes a template, the language it was approved under and a throughput', async () => {
    const args = ['sender', 'add', '--phone-number-id', '7', '--number', '+55 (11) 98765-4321'];
    const rest = ['--template', 'codigo_2', '--english', 'en_US', '--throughput', '1000'];
    expect(await jsonOf([...args, '--token', TOKEN, ...rest], env)).toEqual({
      ...ADDED,
      phone_number_id: '7',
      number: '+5511987654321',
      template: 'codigo_2',
      english: 'en_US',
      throughput: 1000,
    });
  });

  it('refuses a phone number id that is there already', async () => {
    await jsonOf(add('--token', TOKEN), env);
    expectFault(
      await onecode(add('--token', 'another'), env),
      1,
      'there is a sender with this phone number id already',
    );
    expect(await store.sql('select from senders')).toHaveLength(1);
  });

  it.each(['', '\n', 'two\nlines', 'a b', 'tokén', '-', '-\n'])(
    'refuses %j as the token on standard input',
    async (input) => {
      const ended = await onecode(add('--token', '-'), env, input);
      expectFault(ended, 2, '--token on standard input must be 1 to 4096 visible ASCII characters');
    },
  );

  it.each([
    [{ DATABASE_URL: 'postgres://127.0.0.1:1/x' }, 'SECRET_KEY is missing'],
    [{ DATABASE_URL: 'postgres://127.0.0.1:1/x', SECRET_KEY: '' }, 'SECRET_KEY is missing'],
    [{ DATABASE_URL: 'postgres://127.0.0.1:1/x', SECRET_KEY: 'cGxhbnRlZA==' }, /SECRET_KEY must be 32 bytes/],
    [{ SECRET_KEY: 'cGxhbnRlZA==' }, /DATABASE_URL is missing; SECRET_KEY must be 32 bytes in base64\n$/],
  ])('says in one line what is wrong with %j, and repeats no secret', async (wrong, line) => {
    const ended = await onecode(add('--token', TOKEN), wrong);
    expectFault(ended, 1, line);
    expect(ended.stderr).not.toMatch(/EAAG|cGxhbnRlZA/);
  });
});

describe('sender list, pause, resume and throughput', () => {
  it('lists all senders, oldest first, and never a token', async () => {
    const first = await buildSender(store.database, { token: TOKEN });
    const second = await buildSender(store.database, { englishTemplateLanguage: 'en_US' });
    const rowOf = (sender: typeof first) => ({
      ...ACTIVE,
      id: sender.id,
      phone_number_id: sender.phoneNumberId,
      number: sender.number,
      template: sender.template,
      english: sender.englishTemplateLanguage,
    });
    expect(await jsonOf(['sender', 'list'], env)).toEqual([rowOf(first), rowOf(second)]);
  });

  it('pauses until resumed', async () => {
    const { id } = await buildSender(store.database);
    const paused = { state: 'paused', paused_until: null, pause_reason: 'paused by an operator' };
    expect(await jsonOf(['sender', 'pause', id], env)).toMatchObject(paused);
    expect(await jsonOf(['sender', 'list'], env)).toEqual([expect.objectContaining({ id, ...paused })]);
    expect(await jsonOf(['sender', 'resume', id], env)).toMatchObject(ACTIVE);
    expect(await jsonOf(['sender', 'list'], env)).toEqual([expect.objectContaining({ id, ...ACTIVE })]);
  });

  it('shows how long a rest lasts and why, and a rest that is over as active', async () => {
    const { id } = await buildSender(store.database);
    const fault = { senderId: id, attemptId: newId(), isOfBusiness: false, source: 'answer' } as const;
    await coolDownSender(store.database, fault, {
      failuresBefore: 0,
      seconds: 600,
      sharedSeconds: [],
      reason: 'quality',
    });
    expect(await jsonOf(['sender', 'list'], env)).toEqual([
      expect.objectContaining({ state: 'paused', paused_until: TIME, pause_reason: 'quality', faults: 1 }),
    ]);
    await store.sql(`update senders set paused_until = now() - interval '1 second'`);
    expect(await jsonOf(['sender', 'list'], env)).toEqual([
      expect.objectContaining({ state: 'active', paused_until: null, pause_reason: null, faults: 1 }),
    ]);
  });

  it('changes the throughput of a sender, and of no other', async () => {
    const { id } = await buildSender(store.database);
    await buildSender(store.database);
    expect(await jsonOf(['sender', 'throughput', id, '250'], env)).toMatchObject({ id, throughput: 250 });
    const listed = (await jsonOf(['sender', 'list'], env)) as { throughput: number }[];
    expect(listed.map(({ throughput }) => throughput)).toEqual([250, 80]);
  });

  it('needs no SECRET_KEY', async () => {
    expect(await jsonOf(['sender', 'list'], { DATABASE_URL: store.url })).toEqual([]);
  });

  it.each([['pause'], ['resume'], ['throughput', '80']])(
    '%s says that there is no such sender',
    async (verb, ...rest) => {
      const ended = await onecode(['sender', verb, UNKNOWN_ID, ...rest], env);
      expectFault(ended, 1, 'there is no sender with this id');
    },
  );
});
