import { createCloudApi } from '../src/client.js';
import { readSender, type ReadSender } from '../src/graph.js';
import { closeProviders, startProvider } from './provider.js';

const SENDER = {
  phoneNumberId: '106540352242922',
  token: 'leaked-token',
  template: 'verification_code',
  businessAccountId: null,
};
const ACCOUNT = '102290129340398';
const refusal = (code: number) => ({ error: { code, message: `quotes ${SENDER.token}` } });

afterEach(closeProviders);

/** Reads from a provider that answers by path. A response with an error has an error status. */
async function readFrom(
  answers: (path: string, query: URLSearchParams) => object,
  sender: ReadSender = SENDER,
) {
  const provider = await startProvider((response, { url }) => {
    const { pathname, searchParams } = new URL(url, 'http://provider');
    const answer = answers(pathname.replace('/v25.0/', ''), searchParams);
    response.writeHead('error' in answer ? 400 : 200).end(JSON.stringify(answer));
  });
  const reading = await readSender(
    createCloudApi({ baseUrl: provider.baseUrl, timeoutMs: 5_000 }).call,
    sender,
  );
  return { reading, requests: provider.requests };
}

describe('readSender', () => {
  const entity = (type: string, id: string, more: object) => ({ entity_type: type, id, ...more });
  const number = {
    quality_rating: 'GREEN',
    status: 'CONNECTED',
    throughput: { level: 'HIGH' },
    whatsapp_business_manager_messaging_limit: 'TIER_2K',
    health_status: {
      entities: [
        entity('PHONE_NUMBER', '1', { can_send_message: 'LIMITED', additional_info: ['a name is missing'] }),
        entity('WABA', ACCOUNT, { can_send_message: 'BLOCKED', errors: [{ error_description: 'unpaid' }] }),
        entity('BUSINESS', '506', { can_send_message: 'AVAILABLE' }),
      ],
    },
  };
  const template = (language: string, more: object = {}) => ({ name: SENDER.template, language, ...more });

  it('returns each part, the templates of all pages, and the buttons of older templates', async () => {
    const url =
      'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code_expiration_minutes=5&code=otp{{1}}';
    const footer = { type: 'FOOTER', code_expiration_minutes: 10 };
    const otp = { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] };
    const first = [template('en', { status: 'APPROVED', components: [footer, otp] }), { name: 'another' }];
    const older = template('pt_BR', { components: [{ type: 'BUTTONS', buttons: [{ type: 'URL', url }] }] });
    const answers: Record<string, object> = {
      [SENDER.phoneNumberId]: number,
      debug_token: { data: { app_id: '6', is_valid: true, scopes: ['a', 7], expires_at: 9 } },
      [ACCOUNT]: { business_verification_status: 'verified' },
      [`${ACCOUNT}/subscribed_apps`]: { data: [{ whatsapp_business_api_data: { id: '6' } }] },
    };
    const pageOf = (query: URLSearchParams) =>
      query.get('after') === null
        ? { data: first, paging: { cursors: { after: 'next' }, next: 'https://elsewhere' } }
        : { data: [older], paging: { cursors: { after: 'end' } } };
    const { reading, requests } = await readFrom((path, query) => answers[path] ?? pageOf(query));
    expect(reading).toMatchObject({
      businessAccountId: ACCOUNT,
      portfolioId: '506',
      number: {
        quality: 'GREEN',
        messagingLimit: 'TIER_2K',
        throughputLevel: 'HIGH',
        canSend: { can: 'BLOCKED', why: 'unpaid' },
        token: { isValid: true, scopes: ['a'], expiresAt: 9 },
      },
      businessAccount: {
        verification: 'VERIFIED',
        isSubscribed: true,
      },
      templates: [
        { language: 'en', values: { hasCodeButton: true, codeExpirationMinutes: 10 } },
        { language: 'pt_BR', values: { hasCodeButton: true, codeExpirationMinutes: 5 } },
      ],
      failures: {},
    });
    for (const { headers } of requests) expect(headers.authorization).toBe('Bearer leaked-token');
  });

  it('reports that a number cannot send if only its portfolio is blocked', async () => {
    const entities = [
      entity('PHONE_NUMBER', '1', { can_send_message: 'AVAILABLE' }),
      entity('WABA', ACCOUNT, { can_send_message: 'LIMITED', additional_info: ['a hint'] }),
      entity('BUSINESS', '506', {
        can_send_message: 'BLOCKED',
        errors: [{ error_description: 'disabled', possible_solution: 'appeal' }],
      }),
    ];
    const { reading } = await readFrom(() => ({ health_status: { entities } }));
    expect(reading.number.canSend).toEqual({ can: 'BLOCKED', why: 'disabled appeal' });
  });

  it.each([
    [{ data: [{ whatsapp_business_api_data: { id: '6' } }] }, true],
    [{ data: [{ whatsapp_business_api_data: { id: '7' } }] }, false],
    [{ data: [] }, false],
  ])('reports whether the token’s app is subscribed if Meta returns %j: %s', async (apps, expected) => {
    const answers: Record<string, object> = {
      debug_token: { data: { is_valid: true, app_id: '6' } },
      [`${ACCOUNT}/subscribed_apps`]: apps,
    };
    const { reading } = await readFrom((path) => answers[path] ?? number);
    expect(reading.businessAccount.isSubscribed).toBe(expected);
  });

  it.each([
    [{ data: [{ whatsapp_business_api_data: { id: '7' } }] }, undefined],
    [{ data: [] }, false],
  ])('without the token’s app, reports the subscription if Meta returns %j: %s', async (apps, expected) => {
    const answers: Record<string, object> = {
      debug_token: refusal(100),
      [`${ACCOUNT}/subscribed_apps`]: apps,
    };
    const { reading } = await readFrom((path) => answers[path] ?? number);
    expect(reading.businessAccount.isSubscribed).toBe(expected);
  });

  it.each([
    [{ type: 'OTP', otp_type: 'ONE_TAP' }, true],
    [{ type: 'OTP', otp_type: 'ZERO_TAP' }, true],
    [{ type: 'URL', url: 'https://www.whatsapp.com/otp/code/?otp_type=ONE_TAP&code=otp{{1}}' }, true],
    [{ type: 'OTP', otp_type: 'ANOTHER' }, false],
    [{ type: 'URL', url: 'https://example.com/?otp=ONE_TAP' }, false],
  ])('reports whether %j is a button for the code: %s', async (button, hasCodeButton) => {
    const components = [{ type: 'BUTTONS', buttons: [button] }];
    const { reading } = await readFrom((path) =>
      path === `${ACCOUNT}/message_templates` ? { data: [template('en', { components })] } : number,
    );
    expect(reading.templates).toMatchObject([{ values: { hasCodeButton } }]);
  });

  it('returns the reason of a template that Meta reports, and for an approved template that there is none', async () => {
    const data = [
      template('en', { status: 'PAUSED', rejected_reason: 'NONE' }),
      template('en_US', { status: 'REJECTED', rejected_reason: 'ABUSIVE_CONTENT' }),
      template('pt_BR', { status: 'APPROVED', rejected_reason: 'NONE' }),
    ];
    const { reading } = await readFrom((path) =>
      path === `${ACCOUNT}/message_templates` ? { data } : number,
    );
    const values = reading.templates!.map((one) => one.values);
    expect(values).toMatchObject([
      { status: 'PAUSED' },
      { status: 'REJECTED', reason: 'ABUSIVE_CONTENT' },
      { status: 'APPROVED', reason: null },
    ]);
    // A report with null would erase the reason of an earlier webhook.
    expect(values[0]).toMatchObject({ reason: undefined });
  });

  it('returns the number without its business account if Meta returns none', async () => {
    const { reading } = await readFrom((path) =>
      path === SENDER.phoneNumberId ? { status: 'CONNECTED' } : { data: [] },
    );
    const failure = 'The business account of the number is not known.';
    expect(reading).toMatchObject({
      businessAccountId: null,
      number: { status: 'CONNECTED' },
      failures: { businessAccount: failure, subscription: failure, templates: failure },
    });
  });

  it('returns the reason for each failed part, without the token', async () => {
    const { reading } = await readFrom(() => refusal(190), {
      ...SENDER,
      businessAccountId: ACCOUNT,
    });
    const failure = 'Meta refused the call (error 190, HTTP 400).';
    expect(reading).toMatchObject({
      businessAccountId: ACCOUNT,
      // The error is a valid result of this part: Meta does not accept the token.
      number: { token: { isValid: false, scopes: [], expiresAt: 0 } },
      templates: null,
    });
    expect(reading.failures).toEqual({
      number: failure,
      businessAccount: failure,
      subscription: failure,
      templates: failure,
    });
    expect(JSON.stringify(reading)).not.toContain(SENDER.token);
  });
});
