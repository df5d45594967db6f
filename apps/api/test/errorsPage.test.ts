import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROBLEMS } from '@onecode/domain';
import { buildCaller, RawConnection, type TestCaller } from '@onecode/testing';
import { SITE } from './guideBlocks.js';
import { startApi, type TestApi } from './testApi.js';

const PAGE = readFileSync(join(SITE, 'errors.md'), 'utf8');

interface Shown {
  code: string;
  status: number;
  request: string;
  answer: object;
}

/** What the page shows of each problem: its status, a request, and the answer to that. */
const SHOWN: Shown[] = PAGE.split(/^### /m)
  .slice(1)
  .map((section) => {
    const [, code, status] = /^(\w+) · (\d+)$/m.exec(section)!;
    const [, request] = /^```http\n([\s\S]*?)\n```$/m.exec(section)!;
    const [, answer] = /^```json\n([\s\S]*?)^```$/m.exec(section)!;
    return { code: code!, status: Number(status), request: request!, answer: JSON.parse(answer!) as object };
  });
/** What a single request cannot bring about. */
const BY_FAULTS_ALONE = new Set(['internal_error', 'request_timeout', 'too_busy']);

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

/** A caller who has done what the problem needs beforehand. */
async function callerFor(code: string, request: string): Promise<TestCaller> {
  const caller = await buildCaller(api.db.database, 'live', {
    ...(code === 'insufficient_credits' && { freeQuota: 0 }),
    ...(code === 'rate_limited' && { ratePerMinute: 1 }),
  });
  const key = /^Idempotency-Key: (.*)$/m.exec(request)?.[1];
  if (code === 'rate_limited') await api.create(caller).expect(202);
  if (code === 'idempotency_key_reused')
    await api.create(caller, undefined, { 'Idempotency-Key': key! }).expect(202);
  return caller;
}

/** The bytes of a request, with what the page leaves out: a key, the host, the body's length, the rest of a long header. */
function bytesOf(request: string, { key }: TestCaller): string {
  const [head = '', body = ''] = request.split('\n\n');
  const lines = head
    .replace('ak_live_…', key)
    .replace(/x… \((\d+) kB\)/, (_, kilobytes) => 'x'.repeat(Number(kilobytes) * 1_024))
    .split('\n');
  if (!head.includes('\nHost:')) lines.push('Host: codes.test');
  if (body !== '') lines.push(`Content-Length: ${body.length}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

describe('the page of errors', () => {
  it('has a request for every problem', () => {
    expect(SHOWN.map(({ code }) => code).toSorted()).toEqual(Object.keys(PROBLEMS).toSorted());
  });

  it.each(SHOWN.filter(({ code }) => !BY_FAULTS_ALONE.has(code)))(
    'shows a request that is answered as it says: $code',
    async ({ code, status, request, answer }) => {
      const connection = await RawConnection.open(api.port);
      const got = await connection.write(bytesOf(request, await callerFor(code, request))).answer();
      connection.socket.destroy();
      expect([got.status, got.json.code]).toEqual([status, code]);
      // The texts may be more exact than the example's, and the address is this service's own.
      const shape = (problem: object) => ({ ...problem, type: '', detail: 'detail' in problem });
      expect(shape(got.json)).toEqual(shape(answer));
    },
  );

  it('keeps what the provider’s webhooks are answered with apart', () => {
    const [ofApi = '', ofWebhooks = ''] = PAGE.split(/^## .*webhooks$/m);
    expect(ofApi).not.toContain(' /webhooks/');
    expect(ofWebhooks.match(/^### /gm)).toHaveLength(ofWebhooks.match(/^\w+ \/webhooks\//gm)!.length);
  });
});
