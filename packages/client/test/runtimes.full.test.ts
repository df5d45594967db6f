import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeIf } from '@onecode/testing';
import { aSend, json, KEY, problem, resets, text, useService } from '@onecode/testing/breaking-service';

const PROGRAM = fileURLToPath(new URL('runtimeProgram.mjs', import.meta.url));
const RUNTIMES: [name: string, command: string, args: string[]][] = [
  ['node', process.execPath, []],
  ['deno', 'deno', ['run', '--quiet', '--allow-net=127.0.0.1', '--allow-read']],
  ['bun', 'bun', ['run']],
];

describe.each(RUNTIMES)('the built client in %s', (name, command, args) => {
  const isThere = spawnSync(command, ['--version']).status === 0;
  describeIf(isThere)(isThere ? 'installed' : `skipped: there is no ${command} on the path`, () => {
    const service = useService();

    it('retries a send, but never a verification', async () => {
      const send = aSend();
      service.script(
        // A send that loses its first responses.
        resets,
        resets,
        json(202, send),
        // A kept connection is dead when the verification uses it. Some runtimes resend a buffered body.
        json(200, { free_sends: 10 }),
        resets,
        json(200, { valid: true, verification: 'verified', attempts_left: 0 }),
        // Node resends a buffered body.
        text(421, ''),
        text(307, '', { location: '/v1/elsewhere' }),
        problem(404, 'send_not_found'),
        json(200, { ...send, status: 'delivered' }),
      );
      const { stdout } = await promisify(execFile)(command, [...args, PROGRAM, service.url, KEY]);
      expect(JSON.parse(stdout)).toEqual({
        open: true,
        judged: { valid: true, verification: 'verified', attempts_left: 0 },
        misdirected: true,
        redirected: true,
        refused: 'send_not_found',
        aborted: 'no',
        followed: 'delivered',
      });
      const verify = `POST /v1/send/${send.id}/verify`;
      expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'POST /v1/send',
        'POST /v1/send',
        'POST /v1/send',
        'GET /v1/signup-settings',
        verify,
        verify,
        verify,
        verify,
        `GET /v1/send/${send.id}/status`,
        `GET /v1/send/${send.id}/status`,
      ]);
      const [first, second, third] = service.requests;
      expect([second, third]).toEqual([first, first]);
      for (const { headers } of service.requests)
        expect(headers['user-agent']).toMatch(
          new RegExp(`^onecode-client/\\d+\\.\\d+\\.\\d+ \\(${name}/\\d`),
        );
    });
  });
});
