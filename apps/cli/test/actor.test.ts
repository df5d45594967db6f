import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { useTestDatabase } from '@onecode/testing';
import { expectFault, jsonOf, onecode } from './onecode.js';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const SET = ['settings', 'set', 'free_sends'];

const store = useTestDatabase();
let env: Record<string, string>;
/** The variables of a process in an image. */
let image: Record<string, string>;
beforeAll(() => {
  env = { DATABASE_URL: store.url };
  image = { ...env, NODE_ENV: 'production' };
});
beforeEach(() => store.sql('update settings set free_sends = 10'));

/** Whom the newest entry of the audit log names. */
async function newestActor(): Promise<string> {
  const [entry] = (await jsonOf(['audit', 'list', '--limit', '1'], image)) as { actor: string }[];
  return entry!.actor;
}
const freeSends = async (): Promise<unknown> => (await store.sql('select free_sends from settings'))[0];
const entries = async (): Promise<number> => (await store.sql('select from audit_entries')).length;

describe('who is at the command line', () => {
  it.each(['Ana Souza', 'deploy-bot@ci #4711', 'João', 'x', 'é'.repeat(200), '王芳'])(
    'is whom ONECODE_ACTOR names, in an image and out of it: %s',
    async (name) => {
      for (const [index, where] of [env, image].entries()) {
        await jsonOf([...SET, String(20 + index)], { ...where, ONECODE_ACTOR: name });
        expect(await newestActor()).toBe(name);
      }
    },
  );

  it.each([
    ['two lines', 'Ana\nSouza'],
    ['only spaces', '   '],
    ['a space before it', ' Ana'],
    ['a control character', 'Ana\u001b[31m'],
    ['a character that turns the line round', 'Ana\u202e'],
    ['a line separator', 'Ana\u2028Souza'],
    ['more than 200 characters', 'a'.repeat(201)],
  ])('is no name with %s: the command is refused, and changes nothing', async (_, name) => {
    const before = await entries();
    expectFault(
      await onecode([...SET, '30'], { ...env, ONECODE_ACTOR: name }),
      1,
      'ONECODE_ACTOR must be one line of 1 to 200 visible characters',
    );
    expect(await freeSends()).toEqual({ free_sends: 10 });
    expect(await entries()).toBe(before);
  });

  it.each([{}, { ONECODE_ACTOR: '' }])(
    'has to be named in an image without a terminal: a command that changes something is refused (%j)',
    async (named) => {
      const before = await entries();
      expectFault(await onecode([...SET, '31'], { ...image, ...named }), 1, 'ONECODE_ACTOR is missing');
      expect(await freeSends()).toEqual({ free_sends: 10 });
      expect(await entries()).toBe(before);
    },
  );

  it('need not be named in an image for a command that only reads', async () => {
    expect(await jsonOf(['settings', 'get'], image)).toMatchObject({ free_sends: 10 });
  });

  it('is the user of the operating system outside of an image', async () => {
    await jsonOf([...SET, '32'], env);
    expect(await newestActor()).toBe(userInfo().username);
  });

  it('is the user of the operating system at a terminal', async () => {
    // `script` of util-linux gives the command a terminal.
    const command = [process.execPath, MAIN, ...SET, '33'].join(' ');
    await promisify(execFile)('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { ...image, PATH: process.env['PATH'] },
    });
    expect(await freeSends()).toEqual({ free_sends: 33 });
    expect(await newestActor()).toBe(userInfo().username);
  });
});
