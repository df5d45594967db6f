import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startOnecode, type OnecodeServer } from '@onecode/client/testing';
import { PREPARE_MS_MAX, prepareExample } from './runningExample.js';

const PHONE = '+5511961234567';
const run = promisify(execFile);

/** Loads a connector as Logto does, hands over messages one after the other, and prints their outcomes. */
const LOGTO = `
import { ConnectorError } from '@logto/connector-kit';
import { createRequire } from 'node:module';
const [folder, config, messages] = process.argv.slice(1);
// Keys change with time: all messages are of one moment.
const now = Date.now();
Date.now = () => now;
const { dependencies } = createRequire(folder + '/')('./package.json');
if (dependencies['@logto/connector-kit'] === undefined) throw new Error('Logto refuses it.');
const { default: createConnector } = await import(folder + '/lib/index.js');
const { metadata, type, sendMessage } = await createConnector({ getConfig: async () => JSON.parse(config) });
const outcomes = [];
for (const message of JSON.parse(messages))
  outcomes.push(await sendMessage(message).catch((error) => {
    if (!(error instanceof ConnectorError)) throw error;
    return { error: error.code, data: error.data };
  }));
console.log(JSON.stringify({ metadata, type, outcomes }));`;

interface Output {
  metadata: { id: string; logo: string; readme: string };
  type: string;
  outcomes: { id?: string; error?: string; data?: unknown }[];
}

describe('the connector for Logto', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-logto-'));
  /** Logto's package with the folder of connectors, which use its dependencies. */
  const core = join(folder, 'packages/core');
  const connector = join(core, 'connectors/connector-onecode');
  let server: OnecodeServer;
  beforeAll(async () => {
    const example = join(folder, 'example');
    mkdirSync(example);
    prepareExample('logto-connector', example);
    await run('npm', ['pack', '--silent'], { cwd: example });
    const archive = readdirSync(example).find((name) => name.startsWith('connector-'))!;
    mkdirSync(connector, { recursive: true });
    await run('tar', ['-xzf', join(example, archive), '-C', connector, '--strip-components', '1']);
    mkdirSync(join(core, 'node_modules/@logto'), { recursive: true });
    for (const name of ['@logto/connector-kit', 'zod'])
      symlinkSync(join(example, 'node_modules', name), join(core, 'node_modules', name));
    server = await startOnecode();
  }, PREPARE_MS_MAX);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await server?.close();
  });

  async function handOver(messages: object[], settings: object = {}): Promise<Output> {
    const config = { baseUrl: server.baseUrl, apiKey: server.keys.live, ...settings };
    const texts = [JSON.stringify(config), JSON.stringify(messages)];
    const { stdout } = await run(
      process.execPath,
      ['--input-type=module', '-e', LOGTO, '--', connector, ...texts],
      { cwd: core },
    );
    return JSON.parse(stdout) as Output;
  }
  const messageOf = (payload: object, to = PHONE.slice(1), type = 'SignIn') => ({ to, type, payload });
  /** Returns the outcomes of messages, and the sends that they created. */
  async function sendsOf(messages: object[], settings?: object) {
    const before = server.sends.length;
    const { outcomes } = await handOver(messages, settings);
    return { outcomes, sends: server.sends.slice(before) };
  }

  it('has its logo and its readme in its package, next to the SDK only', async () => {
    const { metadata, type } = await handOver([]);
    expect([metadata.id, type]).toEqual(['onecode', 'Sms']);
    const names = readdirSync(connector, { recursive: true, encoding: 'utf8' });
    expect(names).toEqual(expect.arrayContaining(['logo.svg', 'README.md', 'lib/index.js']));
    expect(readdirSync(join(connector, 'node_modules'))).toEqual(['@onecode']);
  });

  it('sends Logto’s code to the number, with and without a plus', async () => {
    const { outcomes, sends } = await sendsOf([
      messageOf({ code: '048213' }),
      messageOf({ code: '048214' }, PHONE),
    ]);
    expect(sends).toMatchObject([
      { to: PHONE, code: '048213', locale: null },
      { to: PHONE, code: '048214', locale: null },
    ]);
    expect(outcomes).toEqual(sends.map(({ id }) => ({ id })));
  });

  it('sends one message for a repeated call with the same code, after a lost response too', async () => {
    server.script(PHONE, { answer: 'lost', afterWork: true });
    const message = messageOf({ code: '048215' });
    const { outcomes, sends } = await sendsOf([message, message]);
    expect(sends).toHaveLength(1);
    expect(outcomes).toEqual([{ id: sends[0]!.id }, { id: sends[0]!.id }]);
    expect(sends[0]!.idempotencyKey).toMatch(/^[0-9a-f]{64}$/);
  });

  it('sends a message for another code, number or purpose', async () => {
    const { sends } = await sendsOf([
      messageOf({ code: '048216' }),
      messageOf({ code: '048217' }),
      messageOf({ code: '048216' }, '447700900141'),
      messageOf({ code: '048216' }, undefined, 'Register'),
    ]);
    expect(sends).toHaveLength(4);
  });

  it('sends a message in the language of the page', async () => {
    const locales = ['pt-BR', 'pt-PT', 'en', 'en-US', 'de'];
    const messages = locales.map((locale, index) => messageOf({ code: `04830${index}`, locale }));
    const { sends } = await sendsOf(messages);
    expect(sends.map(({ locale }) => locale)).toEqual(['pt-BR', 'pt-BR', 'en', 'en', null]);
  });

  it.each<[string, object, object, string, string]>([
    [
      'a text that is not a number',
      messageOf({ code: '048219' }, '12'),
      {},
      'invalid_request_parameters',
      'invalid_recipient',
    ],
    ['letters in the code', messageOf({ code: '5A1168' }), {}, 'invalid_request_parameters', 'invalid_code'],
    [
      'a revoked key',
      messageOf({ code: '048219' }),
      { apiKey: 'ak_live_revoked' },
      'invalid_config',
      'invalid_api_key',
    ],
  ])('returns an error of Logto for %s, and sends nothing', async (_, message, settings, error, problem) => {
    const { outcomes, sends } = await sendsOf([message], settings);
    expect(outcomes).toEqual([{ error, data: { errorDescription: problem } }]);
    expect(sends).toEqual([]);
  });

  it('returns errors of Logto for limits, credits and lost connections', async () => {
    const [limited, unpaid, lost] = ['447700900151', '447700900152', '447700900153'] as const;
    server.script(`+${limited}`, { answer: 'rate_limited', retryAfterSeconds: 60 });
    server.script(`+${unpaid}`, { answer: 'insufficient_credits' });
    server.script(`+${lost}`, { answer: 'lost', times: 2 });
    const { outcomes } = await sendsOf(
      [limited, unpaid, lost].map((to) => messageOf({ code: '048220' }, to)),
    );
    expect(outcomes).toEqual([
      { error: 'rate_limit_exceeded', data: { errorDescription: 'rate_limited' } },
      { error: 'general', data: { errorDescription: 'insufficient_credits' } },
      { error: 'general', data: { errorDescription: 'Onecode did not respond.' } },
    ]);
  });

  it('refuses settings that are not usable, and a message without a code', async () => {
    const { outcomes } = await handOver([messageOf({ link: 'https://example.com' })]);
    expect(outcomes).toMatchObject([{ error: 'insufficient_request_parameters' }]);
    const message = messageOf({ code: '048221' });
    for (const settings of [{ apiKey: '' }, { baseUrl: 'codes' }, { baseUrl: 'http://codes.example.com' }])
      expect((await handOver([message], settings)).outcomes).toMatchObject([{ error: 'invalid_config' }]);
  });
});
