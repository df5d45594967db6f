import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ProcessStack, until } from '@onecode/testing';
import { beginPost, type RawPost } from './rawPost.js';

const MEBIBYTE = 2 ** 20;
const POST_BYTES = 3 * MEBIBYTE;
const POST = Buffer.alloc(POST_BYTES, 'x');
const FORGED = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };

describe('a flood of webhooks from strangers', () => {
  let stack: ProcessStack;
  let url: string;
  beforeEach(async () => {
    stack = await ProcessStack.start({ workers: 0 });
    url = `${stack.apis[0]}/webhooks/whatsapp`;
    await postReal();
  });
  afterEach(() => stack.stop());

  /** The API's memory in MiB. */
  async function memory(): Promise<number> {
    const status = await readFile(`/proc/${stack.apiPids[0]}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }

  /**
   * Posts a webhook of the largest size that Meta uses: 1,000 statuses in nearly 3 MB. As Meta does, it posts again after a server
   * error, which a busy machine may answer with. @returns its last status, and the duration until then
   */
  async function postReal(): Promise<{ status: number; ms: number }> {
    const statuses = Array.from({ length: 1_000 }, () => ({
      id: `wamid.${randomUUID()}`,
      status: 'delivered',
      timestamp: '1767225600',
      recipient_id: '5511987654321',
      conversation: { id: 'c'.repeat(2_900) },
    }));
    const value = { messaging_product: 'whatsapp', statuses };
    const entry = [{ id: '1', changes: [{ field: 'messages', value }] }];
    const body = JSON.stringify({ object: 'whatsapp_business_account', entry });
    const signature = createHmac('sha256', stack.secrets.appSecret).update(body).digest('hex');
    const begun = performance.now();
    const headers = { 'x-hub-signature-256': `sha256=${signature}`, connection: 'close' };
    for (let retries = 0; ; retries++) {
      const { status } = await fetch(url, { method: 'POST', headers, body });
      if (status < 500 || retries === 3) return { status, ms: Math.round(performance.now() - begun) };
    }
  }

  /** The most that the API's memory grows by during some work. */
  async function growth<T>(act: () => Promise<T>): Promise<{ mebibytes: number; result: T }> {
    const before = await memory();
    let most = before;
    let isOver = false;
    const watched = until(
      'the end',
      async () => {
        most = Math.max(most, await memory());
        return isOver;
      },
      55_000,
    );
    const result = await act();
    isOver = true;
    await watched;
    return { mebibytes: most - before, result };
  }

  it.each([150, 400])(
    '%i posts of 3 MB with a wrong signature take little memory, and real ones pass',
    async (count) => {
      const { mebibytes, result } = await growth(async () => {
        const posts = Array.from({ length: count }, () => {
          const post = beginPost(url, FORGED, POST_BYTES);
          post.write(POST);
          return post;
        });
        const real = await Promise.all([postReal(), postReal(), postReal()]);
        const answers = await Promise.all(posts.map(({ answered }) => answered));
        return { real, refused: answers.filter(({ status }) => [401, 408, 503].includes(status)).length };
      });
      expect(result.real.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(Math.max(...result.real.map(({ ms }) => ms))).toBeLessThan(30_000);
      expect(result.refused).toBe(count);
      expect(mebibytes).toBeLessThan(120);
    },
  );

  it.each<[string, number, number]>([
    ['stop before their last byte', 150, POST_BYTES - 1],
    ['stop half-way', 150, POST_BYTES / 2],
    ['hardly begin', 1_000, 1_000],
  ])('%s: posts that do take little memory, and real ones pass', async (_, count, bytes) => {
    const { mebibytes, result } = await growth(async () => {
      const posts: RawPost[] = Array.from({ length: count }, () => {
        const post = beginPost(url, FORGED, POST_BYTES);
        post.write(POST.subarray(0, bytes));
        return post;
      });
      await until('the posts', async () => (await fetch(`${stack.apis[0]}/livez`)).ok);
      const real = await Promise.all([postReal(), postReal(), postReal()]);
      for (const post of posts) post.end();
      return { real };
    });
    expect(result.real.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(mebibytes).toBeLessThan(120);
  });

  it('are refused unread without a signature', async () => {
    const post = beginPost(url, {}, POST_BYTES);
    post.write(POST.subarray(0, 1));
    const { status, body } = await post.answered;
    expect([status, body]).toEqual([401, expect.stringContaining('invalid_signature')]);
  });
});
