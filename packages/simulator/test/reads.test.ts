import type { Simulator } from '../src/index.js';
import { bodyOf, closeAll, control, send, SENDER, start, type Json } from './sending.js';

const ACCOUNT = '102290129340398';

afterEach(closeAll);

/** Reads from the Graph API. */
async function read(simulator: Simulator, path: string, token: string | null = 'token') {
  const response = await fetch(`${simulator.apiUrl}/${path}`, {
    headers: token === null ? {} : { Authorization: `Bearer ${token}` },
  });
  return { status: response.status, json: (await response.json()) as Json };
}

const errorOf = ({ status, json }: Awaited<ReturnType<typeof read>>) => [
  status,
  json.error.code,
  json.error.error_subcode,
];

describe('a number', () => {
  it('is told with its default fields when none is asked for', async () => {
    const { status, json } = await read(await start(), SENDER);
    expect([status, json]).toEqual([
      200,
      {
        verified_name: 'Onecode',
        code_verification_status: 'VERIFIED',
        display_phone_number: '+15552242922',
        quality_rating: 'GREEN',
        id: SENDER,
      },
    ]);
  });

  it('is told with the fields that are asked for, and no others', async () => {
    const fields =
      'status,throughput{level},messaging_limit_tier,whatsapp_business_manager_messaging_limit,health_status';
    const { json } = await read(await start(), `${SENDER}?fields=${fields}`);
    const entity = (type: string, id: string) => ({
      entity_type: type,
      id,
      can_send_message: 'AVAILABLE',
    });
    expect(json).toEqual({
      status: 'CONNECTED',
      throughput: { level: 'STANDARD' },
      messaging_limit_tier: 'TIER_UNLIMITED',
      whatsapp_business_manager_messaging_limit: 'TIER_UNLIMITED',
      health_status: {
        can_send_message: 'AVAILABLE',
        entities: [
          entity('PHONE_NUMBER', SENDER),
          entity('WABA', ACCOUNT),
          entity('BUSINESS', '506914307656634'),
          entity('APP', '634974688087057'),
        ],
      },
      id: SENDER,
    });
  });

  it('is refused with a field that Graph does not know', async () => {
    const refused = await read(await start(), `${SENDER}?fields=id,colour`);
    expect(errorOf(refused)).toEqual([400, 100, undefined]);
    expect(refused.json.error.message).toBe(
      '(#100) Tried accessing nonexisting field (colour) on node type (WhatsAppBusinessPhoneNumber)',
    );
  });

  it('follows what the options and the control interface say of it', async () => {
    const simulator = await start({
      senders: [{ phoneNumberId: SENDER, wabaId: '77', throughputLevel: 'HIGH' }],
      portfolio: { messagingLimit: 'TIER_2K' },
    });
    const fields = 'quality_rating,status,throughput,whatsapp_business_manager_messaging_limit,health_status';
    const changed = await control(simulator, 'PUT', `senders/${SENDER}`, {
      qualityRating: 'RED',
      status: 'FLAGGED',
    });
    expect(changed).toMatchObject({ status: 200, json: { qualityRating: 'RED', wabaId: '77' } });
    expect((await read(simulator, `${SENDER}?fields=${fields}`)).json).toMatchObject({
      quality_rating: 'RED',
      status: 'FLAGGED',
      throughput: { level: 'HIGH' },
      whatsapp_business_manager_messaging_limit: 'TIER_2K',
      health_status: {
        can_send_message: 'LIMITED',
        entities: [{ can_send_message: 'LIMITED' }, { id: '77' }, {}, {}],
      },
    });
    simulator.reset();
    expect((await read(simulator, `${SENDER}?fields=status`)).json.status).toBe('CONNECTED');
  });

  it('that is unknown or deleted cannot be loaded', async () => {
    const simulator = await start({ senders: [{ phoneNumberId: SENDER }] });
    const unknown = await read(simulator, '999');
    expect(errorOf(unknown)).toEqual([400, 100, 33]);
    expect(unknown.json.error.message).toMatch(
      /^Unsupported get request. Object with ID '999' does not exist/,
    );
    await control(simulator, 'PUT', `senders/${SENDER}`, { status: 'DELETED' });
    expect(errorOf(await read(simulator, SENDER))).toEqual([400, 100, 33]);
    expect((await send(simulator)).json.error).toMatchObject({ code: 100, error_subcode: 33 });
  });

  it('keeps its state when a change has a fault', async () => {
    const simulator = await start();
    expect(
      await control(simulator, 'PUT', `senders/${SENDER}`, { status: 'HAPPY', colour: 1 }),
    ).toMatchObject({
      status: 422,
      json: { errors: [expect.stringContaining('status must be one of CONNECTED'), 'colour is not known'] },
    });
    expect((await control(simulator, 'PUT', 'senders/me', {})).status).toBe(422);
  });
});

describe('a business account', () => {
  it('is told with what the business portfolio says of it', async () => {
    const simulator = await start({ portfolio: { verificationStatus: 'UNVERIFIED' } });
    const fields = 'id,name,business_verification_status,ownership_type,account_review_status,health_status';
    const { json } = await read(simulator, `${ACCOUNT}?fields=${fields}`);
    expect(json).toMatchObject({
      id: ACCOUNT,
      name: 'Onecode',
      business_verification_status: 'UNVERIFIED',
      ownership_type: 'SELF',
      account_review_status: 'APPROVED',
      health_status: {
        can_send_message: 'LIMITED',
        entities: [
          { entity_type: 'WABA' },
          { entity_type: 'BUSINESS', errors: [{ error_code: 141010 }] },
          { entity_type: 'APP' },
        ],
      },
    });
  });

  it.each([
    ['payment_issue', 141006],
    ['restricted', 141001],
    ['disabled', 141001],
  ])('that is in the condition %s blocks its numbers', async (condition, code) => {
    const simulator = await start();
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}`, { condition });
    const { json } = await read(simulator, `${SENDER}?fields=health_status`);
    expect(json.health_status.can_send_message).toBe('BLOCKED');
    expect(json.health_status.entities[1]).toMatchObject({
      entity_type: 'WABA',
      can_send_message: 'BLOCKED',
      errors: [{ error_code: code }],
    });
  });

  it('lists its own numbers', async () => {
    const simulator = await start({
      senders: [
        { phoneNumberId: '1', wabaId: '77' },
        { phoneNumberId: '2', wabaId: '88' },
        { phoneNumberId: '3', wabaId: '77' },
      ],
    });
    const { json } = await read(simulator, '77/phone_numbers?fields=id,status');
    expect(json.data).toEqual([
      { id: '1', status: 'CONNECTED' },
      { id: '3', status: 'CONNECTED' },
    ]);
    expect(errorOf(await read(simulator, '1/phone_numbers'))).toEqual([400, 100, undefined]);
  });

  it('lists the apps that get its webhooks', async () => {
    const simulator = await start();
    const subscribed = async () => (await read(simulator, `${ACCOUNT}/subscribed_apps`)).json.data;
    expect(await subscribed()).toMatchObject([
      { whatsapp_business_api_data: { id: '634974688087057', name: 'Onecode' } },
    ]);
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}`, { subscribed: false });
    expect(await subscribed()).toEqual([]);
  });
});

describe('message templates', () => {
  const FIELDS =
    'id,name,language,status,category,quality_score,rejected_reason,message_send_ttl_seconds,components';

  it('are listed with their button, footer and time to live', async () => {
    const { json } = await read(await start(), `${ACCOUNT}/message_templates?fields=${FIELDS}`);
    expect(json.data.map(({ language }: Json) => language)).toEqual(['pt_BR', 'en', 'en_US']);
    expect(json.data[1]).toEqual({
      id: expect.stringMatching(/^\d{15}$/),
      name: 'verification_code',
      language: 'en',
      status: 'APPROVED',
      category: 'AUTHENTICATION',
      quality_score: { score: 'GREEN', date: 1763629200 },
      rejected_reason: 'NONE',
      message_send_ttl_seconds: 600,
      components: [
        {
          type: 'BODY',
          text: '*{{1}}* is your verification code. For your security, do not share this code.',
          add_security_recommendation: true,
          example: { body_text: [['123456']] },
        },
        { type: 'FOOTER', text: 'This code expires in 10 minutes.', code_expiration_minutes: 10 },
        { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
      ],
    });
  });

  it('come in pages, whose next address leads on', async () => {
    const simulator = await start();
    const names: string[] = [];
    let path: string | undefined = `${ACCOUNT}/message_templates?fields=language&limit=2`;
    while (path !== undefined) {
      const { json }: { json: Json } = await read(simulator, path);
      names.push(json.data.map(({ language }: Json) => language).join(' '));
      expect(json.paging.cursors).toEqual({ before: expect.any(String), after: expect.any(String) });
      path = json.paging.next?.slice(simulator.apiUrl.length + 1);
    }
    expect(names).toEqual(['pt_BR en', 'en_US']);
    expect(errorOf(await read(simulator, `${ACCOUNT}/message_templates?after=x!`))).toEqual([
      400,
      100,
      undefined,
    ]);
    expect(errorOf(await read(simulator, `${ACCOUNT}/message_templates?limit=0`))).toEqual([
      400,
      100,
      undefined,
    ]);
  });

  it('can be asked for by name, language, status and category', async () => {
    const simulator = await start();
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}/templates/login/en`, {
      category: 'UTILITY',
    });
    const listed = async (query: string) =>
      (await read(simulator, `${ACCOUNT}/message_templates?fields=name,language&${query}`)).json.data.map(
        ({ name, language }: Json) => `${name} ${language}`,
      );
    expect(await listed('name=login')).toEqual(['login en']);
    expect(await listed('language=en')).toEqual(['verification_code en', 'login en']);
    expect(await listed('category=UTILITY')).toEqual(['login en']);
    expect(await listed('status=PAUSED')).toEqual([]);
  });

  it('tell the button as a link, the category before, and no footer, as their state says', async () => {
    const simulator = await start();
    const path = `business-accounts/${ACCOUNT}/templates/verification_code/pt_BR`;
    await control(simulator, 'PUT', path, {
      buttonForm: 'URL',
      codeExpirationMinutes: 5,
      category: 'MARKETING',
      quality: 'RED',
      ttlSeconds: null,
    });
    const asked = 'message_send_ttl_seconds,category,previous_category,quality_score,components';
    const one = async () =>
      (await read(simulator, `${ACCOUNT}/message_templates?fields=${asked}&limit=1`)).json.data[0];
    const changed = await one();
    expect(changed).toMatchObject({ category: 'MARKETING', previous_category: 'AUTHENTICATION' });
    expect(changed.quality_score.score).toBe('RED');
    expect(changed.quality_score.date).toBeGreaterThan(1_763_629_200);
    expect(changed).not.toHaveProperty('message_send_ttl_seconds');
    expect(changed.components[2].buttons[0]).toMatchObject({
      type: 'URL',
      text: 'Copiar código',
      url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code_expiration_minutes=5&code=otp{{1}}',
    });
    await control(simulator, 'PUT', path, {
      codeExpirationMinutes: null,
      otpType: null,
      securityRecommendation: false,
    });
    expect((await one()).components).toMatchObject([
      { type: 'BODY', text: '*{{1}}* é seu código de verificação.', add_security_recommendation: false },
    ]);
  });

  it.each([
    ['PAUSED', 132015],
    ['DISABLED', 132016],
    ['REJECTED', 132001],
    ['ARCHIVED', 132001],
    ['DELETED', 132001],
  ])('refuse a send when they are %s, in their language only', async (status, code) => {
    const simulator = await start();
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}/templates/verification_code/en`, {
      status,
    });
    expect((await send(simulator, bodyOf({ language: 'en' }))).json.error.code).toBe(code);
    expect((await send(simulator, bodyOf({ language: 'pt_BR' }))).status).toBe(200);
    const { json } = await read(simulator, `${ACCOUNT}/message_templates?fields=language,status`);
    expect(json.data.find(({ language }: Json) => language === 'en')?.status).toBe(
      status === 'DELETED' ? undefined : status,
    );
  });
});

describe('an access token', () => {
  const DEBUG = 'debug_token?input_token=token';

  it('is told with its scopes and the accounts that it was given', async () => {
    const { json } = await read(await start(), DEBUG);
    expect(json.data).toMatchObject({
      app_id: '634974688087057',
      is_valid: true,
      expires_at: 0,
      scopes: ['business_management', 'whatsapp_business_management', 'whatsapp_business_messaging'],
      granular_scopes: [
        { scope: 'whatsapp_business_management', target_ids: [ACCOUNT] },
        { scope: 'whatsapp_business_messaging', target_ids: [ACCOUNT] },
      ],
    });
  });

  it('that is missing, revoked or expired reads nothing and sends nothing', async () => {
    const simulator = await start();
    expect(errorOf(await read(simulator, SENDER, null))).toEqual([401, 190, undefined]);
    expect(errorOf(await read(simulator, DEBUG, null))).toEqual([401, 190, undefined]);
    await control(simulator, 'PUT', 'tokens/token', { valid: false });
    expect(errorOf(await read(simulator, SENDER))).toEqual([401, 190, undefined]);
    await control(simulator, 'PUT', 'tokens/token', { valid: true, expiresAt: 1_700_000_000 });
    expect(errorOf(await read(simulator, SENDER))).toEqual([401, 190, 463]);
    expect((await send(simulator)).json.error.code).toBe(190);
    expect((await read(simulator, DEBUG)).json.data).toMatchObject({
      is_valid: false,
      expires_at: 1_700_000_000,
      scopes: [],
      error: { code: 190 },
    });
    expect(errorOf(await read(simulator, 'debug_token?input_token=other'))).toEqual([401, 190, undefined]);
    expect(errorOf(await read(simulator, 'debug_token', 'other'))).toEqual([400, 100, undefined]);
  });

  it('reads only with the scope for it, and sends only with the other', async () => {
    const simulator = await start({
      tokens: [
        { token: 'token', scopes: ['whatsapp_business_messaging'] },
        { token: 'reader', scopes: ['whatsapp_business_management'] },
      ],
    });
    expect(errorOf(await read(simulator, SENDER))).toEqual([403, 200, undefined]);
    expect((await send(simulator)).status).toBe(200);
    expect((await read(simulator, SENDER, 'reader')).status).toBe(200);
    const refused = await send(simulator, bodyOf(), { headers: { Authorization: 'Bearer reader' } });
    expect([refused.status, refused.json.error.code]).toEqual([403, 10]);
  });

  it('does not see what belongs to an account that it was not given, or to another token', async () => {
    const simulator = await start({
      tokens: [{ token: 'token', wabaIds: ['77'] }],
      senders: [{ phoneNumberId: SENDER, token: 'token', wabaId: '77' }, { phoneNumberId: '2' }],
    });
    expect((await read(simulator, SENDER)).status).toBe(200);
    expect(errorOf(await read(simulator, '2'))).toEqual([400, 100, 33]);
    expect(errorOf(await read(simulator, ACCOUNT))).toEqual([400, 100, 33]);
    expect(errorOf(await read(simulator, SENDER, 'other'))).toEqual([401, 190, undefined]);
  });
});

describe('/simulator/business', () => {
  it('shows everything but the tokens', async () => {
    const simulator = await start({ tokens: [{ token: 'secret-token' }] });
    await send(simulator);
    const { json } = await control(simulator, 'GET', 'business');
    expect(json).toMatchObject({
      portfolio: { messagingLimit: 'TIER_UNLIMITED' },
      businessAccounts: [{ id: ACCOUNT, condition: 'active' }],
      senders: [{ phoneNumberId: SENDER, status: 'CONNECTED' }],
      templates: [{ language: 'pt_BR' }, { language: 'en' }, { language: 'en_US' }],
    });
    expect(JSON.stringify(json)).not.toContain('secret-token');
  });

  it('changes the portfolio', async () => {
    const simulator = await start();
    await control(simulator, 'PUT', 'portfolio', { messagingLimit: 'TIER_250' });
    const { json } = await read(simulator, `${SENDER}?fields=whatsapp_business_manager_messaging_limit`);
    expect(json.whatsapp_business_manager_messaging_limit).toBe('TIER_250');
    expect((await control(simulator, 'PUT', 'portfolio', { messagingLimit: 'A_LOT' })).status).toBe(422);
  });
});
