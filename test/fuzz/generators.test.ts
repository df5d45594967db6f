import fc from 'fast-check';
import { almostValidRequests } from './almostValid.js';
import { operationsOf, readDocument, type Operation } from './contract.js';
import { hostileRequests } from './hostile.js';
import { requestOf, type RequestDraft, type FuzzRequest } from './request.js';
import { validRequests } from './valid.js';
import { FuzzContext } from './context.js';

const KNOWN = ['createSend', 'getSendStatus', 'verifyCode', 'getSignupSettings'];
const ID = '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57';

/** An operation that is added to the document and that the generators do not know. */
function addedOperation(): Operation {
  const document = readDocument();
  const operations = operationsOf({
    ...document,
    paths: {
      ...document.paths,
      '/v1/things/{id}': {
        put: {
          operationId: 'changeThing',
          parameters: [
            { name: 'id', in: 'path', schema: { type: 'string' } },
            { name: 'X-Thing', in: 'header', schema: { type: 'string', maxLength: 30 } },
          ],
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['size'],
                  properties: {
                    size: { type: 'string', enum: ['S', 'XL'] },
                    serial: { type: 'string', pattern: '^[a-f]{3}$' },
                    count: { type: ['integer', 'null'] },
                    tags: { type: 'array', items: { type: 'boolean' } },
                  },
                },
              },
            },
          },
          responses: { '200': {}, '404': {}, '422': {} },
        },
      },
    },
  });
  return operations.find(({ id }) => id === 'changeThing') as Operation;
}

const context = new FuzzContext(
  [{ name: 'test', key: 'ak_test_x', refusals: [] }],
  'ak_test_y',
  'secret',
  'token',
);
context.recordId('test', JSON.stringify({ id: ID }));

function requestsFrom(drafts: fc.Arbitrary<RequestDraft>, seed = 1): FuzzRequest[] {
  return fc.sample(drafts, { seed, numRuns: 2_000 }).map((draft) => requestOf(draft(context)));
}

const operation = addedOperation();
const good = validRequests(operation);
const members = ({ body }: FuzzRequest): any => JSON.parse(String(body));

describe('requests are generated from the document', () => {
  it('finds all of its operations', () => {
    expect(operationsOf(readDocument()).map(({ id }) => id)).toEqual(KNOWN);
  });

  it('generates valid requests that keep the rules of an added operation', () => {
    const requests = requestsFrom(good);
    for (const request of requests) {
      expect(request).toMatchObject({
        kind: 'valid',
        method: 'PUT',
        target: `/v1/things/${ID}`,
        expected: [200],
      });
      const { size, serial, count, tags, ...rest } = members(request);
      expect(['S', 'XL']).toContain(size);
      if (serial !== undefined) expect(serial).toMatch(/^[a-f]{3}$/);
      if (typeof count !== 'number') expect([null, undefined]).toContain(count);
      if (tags !== undefined) expect(tags.every((tag: unknown) => typeof tag === 'boolean')).toBe(true);
      expect(rest).toEqual({});
    }
    expect(requests.some(({ headers }) => headers.some(([name]) => name === 'X-Thing'))).toBe(true);
  });

  it('generates almost valid requests that break each of its rules', () => {
    const rules = new Set(requestsFrom(almostValidRequests(operation, good)).map(({ rule }) => rule));
    for (const rule of [
      'another method',
      'no credential',
      'X-Thing one byte too long',
      'the member size missing',
      'the member size one character away from its values',
      'the member serial one character away from its pattern',
      'the member count of another type',
      'a body with tags twice',
    ])
      expect([...rules]).toContain(rule);
  });

  it('generates hostile requests for it', () => {
    const rules = new Set(requestsFrom(hostileRequests(operation, good)).map(({ rule }) => rule));
    for (const rule of [
      'a hostile text in a member',
      'a hostile text as an id',
      'an id of another account',
      'Authorization twice',
    ])
      expect([...rules]).toContain(rule);
  });

  it('generates the same requests for the same seed and others for another seed', () => {
    const drafts = almostValidRequests(operation, good);
    expect(requestsFrom(drafts, 7)).toEqual(requestsFrom(drafts, 7));
    expect(requestsFrom(drafts, 7)).not.toEqual(requestsFrom(drafts, 8));
  });
});
