import { randomUUID } from 'node:crypto';
import type { RawAnswer } from '../rawConnection.js';
import {
  bearer,
  contractTest,
  PHONE,
  type ContractCaller,
  type ContractTarget,
  type DeliveryStatus,
} from './target.js';

const CODE = '004217';
const VALID = { valid: true, verification: 'verified', attempts_left: 0 };
const PENDING = (left: number) => ({ valid: false, verification: 'pending', attempts_left: left });
const LOCKED = { valid: false, verification: 'locked', attempts_left: 0 };
const EXPIRED = { valid: false, verification: 'expired', attempts_left: 0 };
const USED = { valid: false, verification: 'verified', attempts_left: 0 };

/** Tests `POST /v1/send/{id}/verify`. */
export function testVerification(open: () => ContractTarget): void {
  const api = contractTest(open);
  let test: ContractCaller;
  let live: ContractCaller;
  beforeAll(async () => {
    test = await api.target.buildCaller('test');
    live = await api.target.buildCaller('live', { freeQuota: 1000 });
  });

  async function create(caller = test, body: object = { to: PHONE, code: CODE }): Promise<string> {
    return (await api.create(caller, body).expect(202)).body.id;
  }
  /** Makes one guess. @returns the response's body */
  async function guess(id: string, code: string, caller = test): Promise<unknown> {
    return (await api.verify(caller, id, code).expect(200)).body;
  }
  const post = (id: string, body: string | Buffer, ...headers: [string, string][]): Promise<RawAnswer> =>
    api.raw('POST', `/v1/send/${id}/verify`, [...Object.entries(bearer(test)), ...headers], body);

  describe('a guess', () => {
    it('is valid if it is correct, and sets verified_at', async () => {
      const id = await create();
      const answer = await api.verify(test, id, CODE);
      expect([answer.type, answer.body]).toEqual(['application/json', VALID]);
      const { body } = await api.status(test, id);
      expect(body).toMatchObject({ verification: 'verified', verified_at: expect.any(String) });
      expect(Date.parse(body.verified_at)).toBeGreaterThanOrEqual(Date.parse(body.created_at));
    });

    it('uses one of five attempts if it is wrong, and the fifth locks the send', async () => {
      const id = await create();
      const answers = [];
      for (let n = 0; n < 7; n++) answers.push(await guess(id, '1'));
      expect(answers).toEqual([PENDING(4), PENDING(3), PENDING(2), PENDING(1), LOCKED, LOCKED, LOCKED]);
      expect((await api.status(test, id)).body).toMatchObject({ verification: 'locked', verified_at: null });
    });

    it('is valid if it is correct after four wrong guesses, but not after five', async () => {
      const [four, five] = [await create(), await create()];
      for (let n = 0; n < 4; n++) await guess(four, '1');
      for (let n = 0; n < 5; n++) await guess(five, '1');
      expect(await guess(four, CODE)).toEqual(VALID);
      expect(await guess(five, CODE)).toEqual(LOCKED);
    });

    it('is never valid after a correct guess, and then changes nothing', async () => {
      const id = await create();
      await guess(id, CODE);
      const { body: before } = await api.status(test, id);
      for (const code of [CODE, '1', '', CODE]) expect(await guess(id, code)).toEqual(USED);
      expect((await api.status(test, id)).body).toEqual(before);
    });

    it('returns `expired` after the deadline, correct or wrong, and is not counted', async () => {
      const id = await create();
      await guess(id, '1');
      await api.target.expire(id);
      const { body: before } = await api.status(test, id);
      for (const code of [CODE, '1', CODE]) expect(await guess(id, code)).toEqual(EXPIRED);
      expect((await api.status(test, id)).body).toEqual(before);
    });

    it('returns `verified` or `locked` after the deadline if the code was already verified or locked', async () => {
      const [verified, locked] = [await create(), await create()];
      await guess(verified, CODE);
      for (let n = 0; n < 5; n++) await guess(locked, '1');
      for (const id of [verified, locked]) await api.target.expire(id);
      expect(await guess(verified, CODE)).toEqual(USED);
      expect(await guess(locked, CODE)).toEqual(LOCKED);
    });

    it.each([
      ['an empty code', ''],
      ['a digit too few', '00421'],
      ['a digit too many', '0042170'],
      ['leading zeros removed', '4217'],
      ['a space before the code', ' 004217'],
      ['a line break after the code', '004217\n'],
      ['a NUL after the code', '004217\0'],
      ['full-width digits', '００４２１７'],
      ['letters', 'abcdef'],
      ['half a surrogate pair', '\ud83d'],
      ['60,000 digits', '0'.repeat(60_000)],
    ])('is wrong with %s', async (_name, code) => {
      const id = await create();
      expect(await guess(id, code)).toEqual(PENDING(4));
      expect(await guess(id, CODE)).toEqual(VALID);
    });

    it('is judged again if it is repeated with the same idempotency key', async () => {
      const id = await create();
      const again = () => api.verify(test, id, '1').set('Idempotency-Key', 'one');
      expect([(await again()).body, (await again()).body]).toEqual([PENDING(4), PENDING(3)]);
    });

    it('is accepted from every application of the account', async () => {
      const id = await create();
      const sibling = await api.target.buildCaller('live', { sibling: test });
      expect(await guess(id, '1', sibling)).toEqual(PENDING(4));
      expect(await guess(id, CODE, sibling)).toEqual(VALID);
    });
  });

  describe('the correct code', () => {
    it.each([
      ['left out', {}],
      ['empty', { code: '' }],
    ])('is 000000 in test mode when it was %s at creation', async (_name, body) => {
      const id = await create(test, { to: PHONE, ...body });
      expect(await guess(id, '0')).toEqual(PENDING(4));
      expect(await guess(id, '000000')).toEqual(VALID);
    });

    it('is the caller’s own code in test mode, and not 000000', async () => {
      const id = await create();
      expect(await guess(id, '000000')).toEqual(PENDING(4));
      expect(await guess(id, CODE)).toEqual(VALID);
    });

    it('is not 000000 in live mode', async () => {
      const id = await create(live, { to: PHONE, code: '999999' });
      expect(await guess(id, '000000', live)).toEqual(PENDING(4));
    });

    it('is wrong for another send to the same recipient', async () => {
      const [one, two] = [await create(), await create(test, { to: PHONE, code: '7777' })];
      expect(await guess(one, '7777')).toEqual(PENDING(4));
      expect(await guess(two, CODE)).toEqual(PENDING(4));
    });

    it.each<DeliveryStatus>(['queued', 'sending', 'sent', 'delivered', 'read', 'failed'])(
      'is accepted while delivery is %s, without changing the delivery',
      async (stage) => {
        const id = await create(live);
        await api.target.deliver(id, stage);
        const { body: before } = await api.status(live, id);
        expect(before).toMatchObject({ status: stage, verification: 'pending' });
        expect(await guess(id, '1', live)).toEqual(PENDING(4));
        expect(await guess(id, CODE, live)).toEqual(VALID);
        const { body: after } = await api.status(live, id);
        expect(after).toEqual({ ...before, verification: 'verified', verified_at: expect.any(String) });
      },
    );
  });

  it('POST /v1/send/{id}/verify refuses an invalid body with 422 in every final state of the code', async () => {
    const [used, locked, expired] = [await create(), await create(), await create()];
    await guess(used, CODE);
    for (let n = 0; n < 5; n++) await guess(locked, '1');
    await api.target.expire(expired);
    for (const id of [used, locked, expired]) expect((await post(id, '{}')).status).toBe(422);
  });

  describe('a guess with unusual framing', () => {
    it.each([
      ['no content type', []],
      ['another content type', [['Content-Type', 'text/plain; charset=utf-16']]],
    ] as [string, [string, string][]][])('is accepted with %s', async (_name, headers) => {
      expect((await post(await create(), `{"code":"${CODE}"}`, ...headers)).json).toEqual(VALID);
    });

    it('is accepted with a body of up to 64 KiB', async () => {
      const id = await create();
      const padded = (bytes: number) => post(id, `{"code":"${CODE}"}`.padEnd(bytes));
      expect((await padded(65_537)).json).toMatchObject({ status: 422, code: 'invalid_json' });
      expect((await padded(65_536)).json).toEqual(VALID);
    });
  });

  describe('the id', () => {
    it('leads to send_not_found if it is unknown', async () => {
      const { body } = await api.verify(test, randomUUID(), CODE);
      expect(body).toMatchObject({ status: 404, code: 'send_not_found' });
    });

    it('is checked before the body if it is malformed, and after the body if it is unknown', async () => {
      const bodies = ['{', '{"code":"1"}'];
      const codesOf = (id: string) =>
        Promise.all(bodies.map(async (body) => (await post(id, body)).json.code));
      expect(await codesOf('x')).toEqual(['send_not_found', 'send_not_found']);
      expect(await codesOf(randomUUID())).toEqual(['invalid_json', 'send_not_found']);
    });

    it('leads to send_not_found for another account’s send, and uses none of its attempts', async () => {
      const id = await create(live);
      for (let n = 0; n < 5; n++) await api.verify(test, id, '1').expect(404);
      await api.verify(test, id, CODE).expect(404);
      expect(await guess(id, CODE, live)).toEqual(VALID);
    });
  });

  describe('concurrent guesses', () => {
    it('are valid exactly once if 200 are correct', async () => {
      const id = await create();
      const answers = await Promise.all(Array.from({ length: 200 }, () => guess(id, CODE)));
      expect(answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(VALID))).toHaveLength(1);
      expect(answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(USED))).toHaveLength(199);
    });

    it('are judged exactly five times if 200 are wrong', async () => {
      const id = await create();
      const answers = await Promise.all(Array.from({ length: 200 }, () => guess(id, '1')));
      for (const left of [4, 3, 2, 1])
        expect(
          answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(PENDING(left))),
        ).toHaveLength(1);
      expect(answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(LOCKED))).toHaveLength(196);
      expect(await guess(id, CODE)).toEqual(LOCKED);
    });

    it('are valid at most once and judged at most five times if correct and wrong guesses are mixed', async () => {
      const id = await create();
      const codes = Array.from({ length: 60 }, (_, index) => (index % 6 === 5 ? CODE : '1'));
      const answers = await Promise.all(codes.map((code) => guess(id, code)));
      const { verification } = (await api.status(test, id)).body;
      const valid = answers.filter((answer) => (answer as { valid: boolean }).valid);
      expect(valid).toHaveLength(verification === 'verified' ? 1 : 0);
      const pending = answers
        .map((answer) => (answer as { attempts_left: number }).attempts_left)
        .filter((left) => left > 0);
      expect(pending.toSorted((a, b) => b - a)).toEqual([4, 3, 2, 1].slice(0, pending.length));
    });
  });
}
