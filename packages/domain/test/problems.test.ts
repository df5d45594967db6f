import { PROBLEMS, Problem, type ProblemCode } from '@onecode/domain';

describe('the problem codes', () => {
  it.each([
    ['missing_credentials', 401],
    ['invalid_api_key', 401],
    ['insufficient_credits', 402],
    ['send_not_found', 404],
    ['idempotency_key_reused', 409],
    ['invalid_json', 422],
    ['invalid_recipient', 422],
    ['channel_unavailable', 422],
    ['invalid_code', 422],
    ['invalid_locale', 422],
    ['invalid_idempotency_key', 422],
    ['rate_limited', 429],
    ['internal_error', 500],
  ] as [ProblemCode, number][])(
    'have %s with status %d, as section 7 of the specification',
    (code, status) => {
      expect(PROBLEMS[code].status).toBe(status);
    },
  );
});

describe('a problem', () => {
  it('is an error whose message is the bare code', () => {
    const problem = new Problem('rate_limited', { retryAfterSeconds: 7, errors: { to: 'too many' } });
    expect(problem).toBeInstanceOf(Error);
    expect(problem).toMatchObject({
      name: 'Problem',
      message: 'rate_limited',
      code: 'rate_limited',
      retryAfterSeconds: 7,
      errors: { to: 'too many' },
      detail: undefined,
    });
  });
});
