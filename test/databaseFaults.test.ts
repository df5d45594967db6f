import { randomBytes } from 'node:crypto';
import { startProcess, until, useTestEnvironment, type LogLine, type StartedProcess } from '@onecode/testing';

const environment = useTestEnvironment();
const secret = (): string => randomBytes(32).toString('base64');
const WRONG = 'not-the-password';
const FAILED = 'PostgreSQL cannot be used';

let started: StartedProcess | null = null;
afterEach(async () => {
  started?.signal('SIGKILL');
  await started?.exited;
});

describe('a process', () => {
  it.each<[string, string, (address: URL) => void, RegExp]>([
    [
      'api',
      'a wrong password',
      (address) => (address.password = WRONG),
      /the database refused the user or the password in DATABASE_URL/,
    ],
    [
      'worker',
      'a database that does not exist',
      (address) => (address.pathname = '/no_such_one'),
      /the database that DATABASE_URL names does not exist/,
    ],
    [
      'console',
      'a server without TLS, which it asks for',
      (address) => (address.search = '?sslmode=verify-full'),
      /the database and this process agree on no TLS, or on no certificate/,
    ],
  ])(
    '(%s) given %s waits, and says so in one warning without the password',
    async (name, _, spoil, reason) => {
      const address = new URL(environment.variables['DATABASE_URL']);
      const { password } = address;
      spoil(address);
      const process = startProcess(`apps/${name}/dist/main.js`, {
        ...environment.variables,
        DATABASE_URL: address.href,
        BASE_URL: 'http://localhost:3000',
        CONSOLE_URL: 'http://localhost:3001',
        CODE_PEPPER: secret(),
        SECRET_KEY: secret(),
        SESSION_SECRET: secret(),
        WHATSAPP_APP_SECRET: 'secret',
        WHATSAPP_VERIFY_TOKEN: 'token',
        WHATSAPP_API_URL: 'http://127.0.0.1:1',
        LOG_LEVEL: 'info',
        PORT: '0',
        METRICS_PORT: '0',
      });
      started = process;
      const warnings = (): LogLine[] => process.log().filter(({ msg }) => msg === FAILED);
      await until('the warning', () => warnings().length > 0, 60_000);
      const port = process.log().find(({ msg }) => msg === 'ready')!['metrics_port'] as number;
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringMatching(reason)]);
      expect(warnings()).toEqual([
        expect.objectContaining({
          level: 'warn',
          service: 'PostgreSQL',
          reason: expect.stringMatching(reason),
        }),
      ]);
      expect(process.ended()).toBeNull();
      for (const word of [password, WRONG].filter((one) => one !== ''))
        expect(process.output()).not.toContain(word);
    },
    60_000,
  );
});
