import { createCloudApi } from '../src/client.js';
import { setUpNumber, type SetupOptions, type SetupStep } from '../src/setup/setup.js';
import { closeProviders, startProvider } from './provider.js';

const ACCOUNT = '300000000000001';
const NUMBER_ID = '400000000000001';
const TOKEN = 'EAAGsecretToken';

afterEach(closeProviders);

/** The responses of Graph, by method and node: an object, a text, or a status with an error. Null cuts the connection. */
type Answers = Record<string, object | string | null | (() => object | null)>;

const NUMBER = { id: NUMBER_ID, display_phone_number: '+1 555-078-3881', status: 'CONNECTED' };
const template = (language: string, more: object = {}) => ({
  id: `5${language.length}0`,
  name: 'verification_code',
  language,
  status: 'APPROVED',
  category: 'AUTHENTICATION',
  message_send_ttl_seconds: 600,
  components: [
    { type: 'FOOTER', code_expiration_minutes: 10 },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
  ],
  ...more,
});
const READY: Answers = {
  'GET debug_token': {
    data: {
      app_id: '6',
      is_valid: true,
      scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
    },
  },
  [`GET ${ACCOUNT}/phone_numbers`]: { data: [NUMBER] },
  [`POST ${NUMBER_ID}/register`]: { success: true },
  [`GET ${ACCOUNT}/subscribed_apps`]: { data: [{ whatsapp_business_api_data: { id: '6' } }] },
  [`GET ${ACCOUNT}/message_templates`]: { data: [template('pt_BR'), template('en')] },
  [`GET ${NUMBER_ID}`]: { status: 'CONNECTED' },
  [`GET ${ACCOUNT}`]: {},
};
const error = (code: number, more: object = {}) => ({ error: { code, message: `quotes ${TOKEN}`, ...more } });

/** Sets up the number with a Graph that gives these responses. @returns the last state of each step, and the requests */
async function setUp(answers: Answers, options: Partial<SetupOptions> = {}) {
  const all: Answers = { ...READY, ...answers };
  const provider = await startProvider((response, { method, url }) => {
    const node = new URL(url, 'http://graph').pathname.replace('/v25.0/', '');
    const found = all[`${method} ${node}`];
    const answer = typeof found === 'function' ? found() : found;
    if (answer === null) response.destroy();
    else if (typeof answer === 'string') response.end(answer);
    else
      response
        .writeHead(answer === undefined || 'error' in answer ? 400 : 200)
        .end(JSON.stringify(answer ?? error(2500)));
  });
  const steps = new Map<string, SetupStep>();
  const setup = setUpNumber(createCloudApi({ baseUrl: provider.baseUrl, timeoutMs: 2_000 }).call, {
    token: TOKEN,
    businessAccountId: ACCOUNT,
    number: null,
    pin: '123456',
    template: 'verification_code',
    english: null,
    codeValiditySeconds: 600,
    isDryRun: false,
    mayChangeTemplates: false,
    approvalMs: 5_000,
    isKnown: async () => false,
    addSender: async ({ number, throughput }) => ({
      step: 'sender',
      status: 'done',
      detail: `${number} ${throughput}`,
      texts: [],
      link: null,
    }),
    ...options,
  });
  for await (const step of setup) steps.set(step.step, step);
  const requests = provider.requests.map(
    ({ method, url }) => `${method} ${new URL(url, 'http://graph').pathname.replace('/v25.0/', '')}`,
  );
  return { steps: Object.fromEntries(steps), requests };
}

describe('setUpNumber', () => {
  it('only registers the number if everything else exists', async () => {
    const { steps, requests } = await setUp({});
    expect(Object.values(steps).map(({ step, status }) => `${step} ${status}`)).toEqual([
      'token already',
      'number already',
      'registration done',
      'subscription already',
      'sender done',
      'template_pt_BR already',
      'template_en already',
      'health already',
    ]);
    expect(requests.filter((request) => request.startsWith('POST'))).toEqual([`POST ${NUMBER_ID}/register`]);
  });

  it.each([
    [133000, 'needs_you', /register it again\.$/],
    [133005, 'needs_you', /PIN .* is wrong/],
    [133006, 'needs_you', /must be verified again/],
    [133008, 'needs_you', /too often/],
    [133010, 'needs_you', /register it again\.$/],
    [133015, 'needs_you', /just deleted.*then register the number\.$/],
    [133016, 'needs_you', /72 hours/],
    [10, 'needs_you', /full control/],
    [131999, 'failed', /error 131999, HTTP 400.*Meta’s message: “quotes …”/],
  ])('reports the registration error %d, and continues', async (code, status, detail) => {
    const { steps } = await setUp({ [`POST ${NUMBER_ID}/register`]: error(code) });
    expect(steps['registration']).toMatchObject({
      status,
      detail: expect.stringMatching(detail),
    });
    expect(steps['template_en']).toMatchObject({ status: 'already' });
    expect(JSON.stringify(steps)).not.toContain(TOKEN);
  });

  it.each([
    [
      error(100, { error_subcode: 2388019, error_user_msg: 'Too many templates.' }),
      'needs_you',
      /Too many templates\./,
    ],
    [
      error(100, { error_subcode: 2388077, error_user_title: 'Odd', error_user_msg: 'Why.' }),
      'needs_you',
      /subcode 2388077.*Odd: Why\./,
    ],
    [error(100, { error_subcode: 33 }), 'needs_you', /access to this business account/],
    [error(131999), 'failed', /error 131999/],
  ])('explains why Meta refused a template (%j)', async (answer, status, detail) => {
    const { steps } = await setUp({
      [`GET ${ACCOUNT}/message_templates`]: { data: [template('pt_BR')] },
      [`POST ${ACCOUNT}/message_templates`]: answer,
    });
    expect(steps['template_en']).toMatchObject({ status, detail: expect.stringMatching(detail) });
    expect(steps['template_pt_BR']).toMatchObject({ status: 'already' });
  });

  it('reports a refused template, and one reason for the others, if it cannot read the templates again', async () => {
    let reads = 0;
    const { steps } = await setUp({
      [`GET ${ACCOUNT}/message_templates`]: () =>
        reads++ === 0 ? { data: [template('pt_BR')] } : error(131999),
      [`POST ${ACCOUNT}/message_templates`]: error(100, { error_subcode: 2388019 }),
    });
    expect(steps['template_en']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringContaining('subcode 2388019'),
    });
    expect(steps['template_pt_BR']).toMatchObject({ status: 'failed' });
    expect(steps['template_pt_BR']!.detail.match(/error 131999/g)).toHaveLength(1);
  });

  it('finds a template after the request to create it got no response', async () => {
    let isCreated = false;
    const { steps } = await setUp({
      [`GET ${ACCOUNT}/message_templates`]: () => ({
        data: isCreated ? [template('pt_BR'), template('en')] : [template('pt_BR')],
      }),
      [`POST ${ACCOUNT}/message_templates`]: () => {
        isCreated = true;
        return null;
      },
    });
    expect(steps['template_en']).toMatchObject({ status: 'done' });
  });

  it('subscribes the token’s app if only another app is subscribed', async () => {
    const { steps } = await setUp({
      [`GET ${ACCOUNT}/subscribed_apps`]: { data: [{ whatsapp_business_api_data: { id: '7' } }] },
      [`POST ${ACCOUNT}/subscribed_apps`]: { success: true },
    });
    expect(steps['subscription']).toMatchObject({ status: 'done' });
  });

  it('finds a number on a later page', async () => {
    let page = 0;
    const { steps } = await setUp(
      {
        [`GET ${ACCOUNT}/phone_numbers`]: () =>
          page++ === 0
            ? {
                data: [{ ...NUMBER, id: '41', display_phone_number: '+1 555-078-3882' }],
                paging: { next: 'x', cursors: { after: 'a' } },
              }
            : { data: [{ ...NUMBER, throughput: { level: 'HIGH' } }] },
      },
      { number: '+15550783881' },
    );
    expect(steps['sender']).toMatchObject({ detail: '+15550783881 1000' });
  });

  it.each([
    [{ throughput: { level: 'STANDARD' }, is_on_biz_app: true }, 20],
    [{ throughput: { level: 'NOT_APPLICABLE' } }, 80],
    [{ throughput: { level: 'STANDARD' }, is_on_biz_app: false }, 80],
  ])('reads the throughput from %j', async (more, throughput) => {
    const { steps } = await setUp({
      [`GET ${ACCOUNT}/phone_numbers`]: { data: [{ ...NUMBER, ...more }] },
    });
    expect(steps['sender']).toMatchObject({ detail: `+15550783881 ${throughput}` });
  });

  it('continues with a token that may not inspect itself, and subscribes its app', async () => {
    const { steps } = await setUp({
      'GET debug_token': error(100),
      [`POST ${ACCOUNT}/subscribed_apps`]: { success: true },
    });
    expect(steps['token']).toMatchObject({ status: 'already' });
    expect(steps['subscription']).toMatchObject({ status: 'done' });
    expect(steps['health']).toMatchObject({ status: 'already' });
  });

  it('does not take the page of a proxy or a sign-in page for an answer of Meta', async () => {
    const { steps } = await setUp({ 'GET debug_token': '<!doctype html><title>Sign in</title>' });
    expect(Object.values(steps)).toMatchObject([
      { step: 'token', status: 'failed', detail: expect.stringMatching(/not JSON, so it is not from Meta/) },
    ]);
  });

  it('reports the requirements in the number’s health status', async () => {
    const entities = [
      {
        entity_type: 'WABA',
        can_send_message: 'BLOCKED',
        errors: [{ error_description: 'No payment method.', possible_solution: 'Add one.' }],
      },
    ];
    const { steps } = await setUp({
      [`GET ${NUMBER_ID}`]: { status: 'CONNECTED', health_status: { entities } },
    });
    expect(steps['health']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringContaining('No payment method. Add one.'),
    });
  });

  it('waits until Meta shows a registered number as connected', async () => {
    let reads = 0;
    const { steps } = await setUp({
      [`GET ${NUMBER_ID}`]: () => ({ status: reads++ === 0 ? 'PENDING' : 'CONNECTED' }),
    });
    expect(steps['health']).toMatchObject({ status: 'already' });
  });

  it('stops waiting when the time is over', async () => {
    const startedAt = performance.now();
    const { steps } = await setUp({ [`GET ${NUMBER_ID}`]: { status: 'PENDING' } }, { approvalMs: 300 });
    expect(steps['health']).toMatchObject({ status: 'waiting' });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  it('reports a number that is not connected, and does not wait, if it was registered before', async () => {
    const { steps } = await setUp(
      { [`GET ${NUMBER_ID}`]: { status: 'DISCONNECTED' } },
      { isKnown: async () => true, approvalMs: 3_600_000 },
    );
    expect(steps['health']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringContaining('DISCONNECTED'),
    });
  });

  it('reports a code validity that a footer cannot state', async () => {
    const { steps } = await setUp({}, { codeValiditySeconds: 90 });
    expect(steps['template_pt_BR']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringMatching(/Codes are valid for 90 s, but the footers .* pt_BR \(10 min\)/),
    });
  });

  it.each([
    [{ data: [] }, /has no number/],
    [error(0), /new access token/],
    [error(102), /new access token/],
    [error(190), /new access token/],
    [error(803), /Check the ids/],
  ])('stops if there is no number to set up (%j)', async (answer, detail) => {
    const { steps, requests } = await setUp({ [`GET ${ACCOUNT}/phone_numbers`]: answer });
    expect(steps['number']).toMatchObject({ status: 'needs_you', detail: expect.stringMatching(detail) });
    expect(requests.filter((request) => request.startsWith('POST'))).toEqual([]);
  });

  it('shows no part of the token, also if Meta’s message is cut off inside it', async () => {
    for (const length of [490, 495]) {
      const message = `${'x'.repeat(length)}${TOKEN}`;
      const { steps } = await setUp({ [`GET ${ACCOUNT}/phone_numbers`]: error(190, { message }) });
      expect(steps['number']?.detail).toMatch(/x{450}/);
      expect(steps['number']?.detail).not.toContain('EAA');
    }
  });
});
