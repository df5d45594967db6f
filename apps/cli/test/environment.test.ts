import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useTestDatabase } from '@onecode/testing';
import { expectFault, onecode } from './onecode.js';

const store = useTestDatabase();
const SECRET_KEY = Buffer.alloc(32, 1).toString('base64');
const NOWHERE = 'postgres://operator@127.0.0.1:1/onecode';
const ADD = ['sender', 'add', '--phone-number-id', '1', '--number', '+15550783881', '--token', 'leaked'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'onecode-cli-'));
  mkdirSync(join(folder, '.data'));
  const variables = { DATABASE_URL: store.url, SECRET_KEY };
  writeFileSync(join(folder, '.data/environment.json'), JSON.stringify(variables));
});
afterAll(() => rmSync(folder, { recursive: true }));

const beside = (args: readonly string[], env: Record<string, string> = {}) =>
  onecode([...args, '--json'], env, '', folder);

describe('in a folder where npm start runs', () => {
  it('needs no variable', async () => {
    expect(await beside(['account', 'list'])).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    expect(await beside(ADD, { DATABASE_URL: '' })).toMatchObject({ code: 0, stderr: '' });
  });

  it('takes a database that is set, and then no key of another one', async () => {
    expectFault(await beside(['account', 'list'], { DATABASE_URL: NOWHERE }), 1, 'cannot be reached');
    expectFault(await beside(ADD, { DATABASE_URL: store.url }), 1, 'SECRET_KEY is missing');
  });
});

it('anywhere else, says what to do', async () => {
  expectFault(
    await onecode(['account', 'list'], {}),
    1,
    'DATABASE_URL is missing: set it, or run npm start in this folder',
  );
});
