import { until } from '@onecode/testing';
import type { Simulator } from '../src/index.js';
import { ACCOUNT, closeAll, codeOf, control, read, send, SENDER, start, startBoth } from './sending.js';

const TEMPLATE = `business-accounts/${ACCOUNT}/templates/verification_code/en`;

afterEach(closeAll);

const put = (simulator: Simulator, path: string, values: object) => control(simulator, 'PUT', path, values);

describe('a number', () => {
  it('returns its status, and the health of the number, its account and its portfolio', async () => {
    const simulator = await start();
    await put(simulator, `senders/${SENDER}`, { status: 'RATE_LIMITED', wabaId: '77' });
    await put(simulator, 'portfolio', { messagingLimit: 'TIER_2K', verificationStatus: 'UNVERIFIED' });
    const why = (text: string) => [{ error_description: text }];
    const fields = 'health_status,status,whatsapp_business_manager_messaging_limit';
    expect((await read(simulator, `${SENDER}?fields=${fields}`)).json).toEqual({
      health_status: {
        entities: [
          {
            entity_type: 'PHONE_NUMBER',
            id: SENDER,
            can_send_message: 'LIMITED',
            errors: why("The phone number's status is RATE_LIMITED."),
          },
          { entity_type: 'WABA', id: '77', can_send_message: 'AVAILABLE' },
          {
            entity_type: 'BUSINESS',
            id: '506914307656634',
            can_send_message: 'LIMITED',
            errors: why('The Business has not passed business verification.'),
          },
        ],
      },
      status: 'RATE_LIMITED',
      whatsapp_business_manager_messaging_limit: 'TIER_2K',
      id: SENDER,
    });
  });

  it('refuses a read of an unknown field, of an unknown id, or with a revoked token', async () => {
    const simulator = await start();
    const errorOf = async (path: string) => (await read(simulator, path)).json.error;
    expect(await errorOf(`${SENDER}?fields=id,colour`)).toMatchObject({
      code: 100,
      message: '(#100) Tried accessing nonexisting field (colour) on node type (WhatsAppBusinessPhoneNumber)',
    });
    expect(await errorOf('me')).toMatchObject({ code: 100, error_subcode: 33 });
    expect((await control(simulator, 'GET', 'status')).json.reads).toBe(2);
    await put(simulator, 'tokens/token', { valid: false });
    expect(await errorOf(SENDER)).toMatchObject({ code: 190 });
  });

  it('posts one webhook for a higher throughput, and none for a change of quality or status', async () => {
    const { simulator, receiver } = await startBoth();
    const changes = [{ qualityRating: 'RED' }, { status: 'RATE_LIMITED' }, { throughputLevel: 'HIGH' }];
    for (const change of changes) await put(simulator, `senders/${SENDER}`, change);
    const event = 'THROUGHPUT_UPGRADE';
    const value = { display_phone_number: '15552242922', event, current_limit: 'TIER_UNLIMITED' };
    expect(receiver.changes).toEqual([{ id: ACCOUNT, field: 'phone_number_quality_update', value }]);
  });

  it.each([
    ['CONNECTED', null],
    ['RESTRICTED', 131048],
    ['DISCONNECTED', 133010],
  ])('answers a send in the status %s with the error %j', async (status, code) => {
    const simulator = await start();
    await put(simulator, `senders/${SENDER}`, { status });
    expect([await codeOf(simulator), await codeOf(simulator, { sender: '2' })]).toEqual([code, null]);
  });

  it('refuses an invalid change with 422', async () => {
    const simulator = await start();
    expect(await put(simulator, `senders/${SENDER}`, { status: 'HAPPY', colour: 1 })).toMatchObject({
      status: 422,
      json: { errors: [expect.stringContaining('status must be one of CONNECTED'), 'colour is unknown'] },
    });
    expect((await put(simulator, 'senders/me', {})).status).toBe(422);
  });
});

describe('a business account', () => {
  it.each([
    ['restricted', 368, 'ACCOUNT_RESTRICTION'],
    ['disabled', 131031, 'DISABLED_UPDATE'],
    ['payment_issue', 131042, null],
  ])(
    'blocks only its own numbers while it is %s, with the error %i and the webhook %j',
    async (condition, code, event) => {
      const { simulator, receiver } = await startBoth();
      await simulator.business.changeSender('2', { wabaId: '77' });
      await put(simulator, `business-accounts/${ACCOUNT}`, { condition });
      expect([await codeOf(simulator), await codeOf(simulator, { sender: '2' })]).toEqual([code, null]);
      await put(simulator, `business-accounts/${ACCOUNT}`, { condition: 'active' });
      expect(await codeOf(simulator)).toBe(null);
      const change = { id: ACCOUNT, field: 'account_update', value: { event } };
      expect(receiver.changes).toMatchObject(event === null ? [] : [change, change]);
    },
  );

  it('posts webhooks for its review, its messaging limit, and a change that the test defines', async () => {
    const { simulator, receiver } = await startBoth();
    await put(simulator, `business-accounts/${ACCOUNT}`, { accountReviewStatus: 'REJECTED' });
    await put(simulator, 'portfolio', { messagingLimit: 'TIER_250' });
    const value = { display_phone_number: '15552242922', event: 'PIN_RESET_REQUEST' };
    await control(simulator, 'POST', 'webhooks', { wabaId: '77', field: 'security', value });
    const limit = { max_daily_conversations_per_business: 250 };
    expect(receiver.changes).toEqual([
      { id: ACCOUNT, field: 'account_review_update', value: { decision: 'REJECTED' } },
      { id: ACCOUNT, field: 'business_capability_update', value: limit },
      { id: '77', field: 'security', value },
    ]);
  });
});

describe('a message template', () => {
  it.each([
    ['PAUSED', 132015, 'APPROVED'],
    ['DISABLED', 132016, 'REINSTATED'],
    ['ARCHIVED', 132001, 'UNARCHIVED'],
    ['DELETED', 132001, 'APPROVED'],
  ])('refuses sends in its language while it is %s', async (status, code, back) => {
    const { simulator, receiver } = await startBoth();
    await put(simulator, TEMPLATE, { status });
    expect(await codeOf(simulator, { language: 'en' })).toBe(code);
    expect(await codeOf(simulator, { language: 'pt_BR' })).toBe(null);
    const listed = await read(simulator, `${ACCOUNT}/message_templates?name=verification_code`);
    expect(listed.json.data).toHaveLength(status === 'DELETED' ? 2 : 3);
    await put(simulator, TEMPLATE, { status: 'APPROVED' });
    expect(await codeOf(simulator, { language: 'en' })).toBe(null);
    expect(receiver.changes.map(({ value }) => value.event)).toEqual([status, back]);
  });

  it('posts changes of quality and category in separate webhooks, and charges the price of its category', async () => {
    const { simulator, receiver } = await startBoth();
    await put(simulator, TEMPLATE.replace(/en$/, 'pt_BR'), { quality: 'RED', category: 'MARKETING' });
    const template = { message_template_name: 'verification_code', message_template_language: 'pt-BR' };
    expect(receiver.changes).toMatchObject([
      { field: 'message_template_quality_update', value: { ...template, new_quality_score: 'RED' } },
      { field: 'template_category_update', value: { ...template, new_category: 'MARKETING' } },
    ]);
    await send(simulator);
    await until('a status', () => receiver.statuses.length > 0);
    expect(receiver.statuses[0]).toMatchObject({ pricing: { category: 'marketing' } });
  });

  it('posts no webhook for a silent change', async () => {
    const { simulator, receiver } = await startBoth();
    await put(simulator, `${TEMPLATE}?silent=true`, { status: 'PAUSED' });
    expect(await codeOf(simulator, { language: 'en' })).toBe(132015);
    expect(receiver.changes).toEqual([]);
  });
});
