import { ProcessStack } from '@onecode/testing';

const SENDS = 200;
const WRONG = '9999999999';

interface Created {
  id?: string;
  code?: string;
  detail?: string;
}

/** An attacker who requests as many codes for one recipient as the account allows, and guesses at each of them. */
describe('guesses at many codes that were requested beforehand', () => {
  let stack: ProcessStack;
  beforeAll(async () => {
    stack = await ProcessStack.start({ workers: 0 });
  });
  afterAll(() => stack.stop());

  async function liveKey(): Promise<string> {
    const account = await stack.onecode('account create --name A --free-quota 5000 --rate-per-minute 100000');
    return stack.makeKey(String(account['id']), 'live');
  }
  /** Creates many sends at once. @returns the answers */
  const askFor = (key: string, bodies: readonly object[]) =>
    Promise.all(bodies.map((body) => stack.request<Created>('POST', '/v1/send', { key, body })));
  const idsOf = (answers: Awaited<ReturnType<typeof askFor>>): string[] =>
    answers.flatMap(({ status, body }) => (status === 202 && body.id !== undefined ? [body.id] : []));
  /** Makes five wrong guesses at each. @returns how many were judged */
  async function guessAll(key: string, ids: readonly string[]): Promise<number> {
    let judged = 0;
    for (const id of ids)
      for (let left = 4; left >= 0; left--) {
        const answer = await stack.verify(key, id, WRONG);
        if ((answer as { attempts_left: number }).attempts_left === left) judged += 1;
      }
    return judged;
  }
  const many = (to: (n: number) => string, code?: string): object[] =>
    Array.from({ length: SENDS }, (_, n) => ({ to: to(n), ...(code !== undefined && { code }) }));

  it('are judged at most a hundred times', async () => {
    const key = await liveKey();
    const answers = await askFor(
      key,
      many(() => '+5511987654321'),
    );
    const judged = await guessAll(key, idsOf(answers));
    expect(judged).toBe(100);
    const { status, body, headers } = (await askFor(key, [{ to: '+5511987654321' }]))[0]!;
    expect([status, body.code]).toEqual([429, 'rate_limited']);
    expect(body.detail).toMatch(/wrong codes in a row/);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(86_000);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(86_400);
  });

  it('are judged less often where the account chooses codes of four digits', async () => {
    const key = await liveKey();
    const ids = idsOf(
      await askFor(
        key,
        many(() => '+5511987654322', '0042'),
      ),
    );
    expect(await guessAll(key, ids)).toBe(15);
  });

  it.each([
    ['Brazil', '+5511987654323', '+551187654323'],
    ['Mexico', '+525512345678', '+5215512345678'],
    ['Argentina', '+5491123456789', '+541123456789'],
  ])('has no more judged by two forms of one number: %s', async (_, one, other) => {
    const key = await liveKey();
    const answers = await askFor(
      key,
      many((n) => (n % 2 ? one : other)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 429]));
    expect(await guessAll(key, idsOf(answers))).toBe(100);
  });
});
