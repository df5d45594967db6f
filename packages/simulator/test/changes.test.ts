import { until } from '@onecode/testing';
import { bodyOf, closeAll, control, OTHER, RECIPIENT, send, SENDER, start, startBoth } from './sending.js';

const ACCOUNT = '102290129340398';
const TEMPLATE = `business-accounts/${ACCOUNT}/templates/verification_code/pt_BR`;

afterEach(closeAll);

describe('a change of a template', () => {
  const common = {
    message_template_id: expect.any(Number),
    message_template_name: 'verification_code',
    message_template_language: 'pt-BR',
  };
  const statusUpdate = (value: object) => ({
    id: ACCOUNT,
    field: 'message_template_status_update',
    value: { ...common, reason: 'NONE', message_template_category: 'AUTHENTICATION', ...value },
  });

  it.each([
    ['PAUSED', { event: 'PAUSED', other_info: { title: 'FIRST_PAUSE' } }, 'APPROVED', 'UNPAUSE'],
    ['DISABLED', { event: 'DISABLED', disable_info: {} }, 'REINSTATED', undefined],
    ['ARCHIVED', { event: 'ARCHIVED' }, 'UNARCHIVED', undefined],
    ['PENDING_DELETION', { event: 'PENDING_DELETION', reason: null }, 'APPROVED', undefined],
  ])('to %s and back is told by a signed webhook', async (status, told, back, title) => {
    const { simulator, receiver } = await startBoth();
    expect(await control(simulator, 'PUT', TEMPLATE, { status })).toMatchObject({ json: { status } });
    expect(receiver.changes).toMatchObject([statusUpdate(told)]);
    expect(receiver.webhooks[0]!.headers['x-hub-signature-256']).toMatch(/^sha256=[0-9a-f]{64}$/);
    await control(simulator, 'PUT', TEMPLATE, { status: 'APPROVED' });
    expect(receiver.changes[1]).toMatchObject(
      statusUpdate({ event: back, ...(title === undefined ? {} : { other_info: { title } }) }),
    );
  });

  it('that rejects it says why', async () => {
    const { simulator, receiver } = await startBoth();
    await control(simulator, 'PUT', TEMPLATE, { status: 'REJECTED', rejectedReason: 'INVALID_FORMAT' });
    expect(receiver.changes).toMatchObject([
      statusUpdate({
        event: 'REJECTED',
        reason: 'INVALID_FORMAT',
        rejection_info: { reason: expect.any(String), recommendation: expect.any(String) },
      }),
    ]);
  });

  it('of its quality and its category is told under their own fields', async () => {
    const { simulator, receiver } = await startBoth();
    await control(simulator, 'PUT', TEMPLATE, { quality: 'RED', category: 'MARKETING' });
    expect(receiver.changes).toEqual([
      {
        id: ACCOUNT,
        field: 'message_template_quality_update',
        value: { ...common, previous_quality_score: 'GREEN', new_quality_score: 'RED' },
      },
      {
        id: ACCOUNT,
        field: 'template_category_update',
        value: { ...common, previous_category: 'AUTHENTICATION', new_category: 'MARKETING' },
      },
    ]);
    await send(simulator);
    await until('2 statuses', () => receiver.words.length === 2);
    expect(receiver.statuses[0]).toMatchObject({ pricing: { category: 'marketing' } });
  });

  it('that changes nothing that Meta tells, or that is silent, sends no webhook', async () => {
    const { simulator, receiver } = await startBoth();
    await control(simulator, 'PUT', TEMPLATE, { ttlSeconds: 60, status: 'APPROVED' });
    await control(simulator, 'PUT', `${TEMPLATE}?silent=true`, { status: 'PAUSED' });
    expect(receiver.changes).toEqual([]);
    expect((await send(simulator)).json.error.code).toBe(132015);
  });
});

describe('a change of a number', () => {
  it.each([{ status: 'FLAGGED' }, { qualityRating: 'RED' }, { status: 'FLAGGED', qualityRating: 'RED' }])(
    'that flags it is told once, and its end too: %j',
    async (change) => {
      const { simulator, receiver } = await startBoth();
      const told = (event: string) => ({
        id: ACCOUNT,
        field: 'phone_number_quality_update',
        value: { display_phone_number: '15552242922', event, current_limit: 'TIER_UNLIMITED' },
      });
      await control(simulator, 'PUT', `senders/${SENDER}`, change);
      expect(receiver.changes).toEqual([told('FLAGGED')]);
      expect((await send(simulator)).status).toBe(200);
      await control(simulator, 'PUT', `senders/${SENDER}`, { status: 'CONNECTED', qualityRating: 'GREEN' });
      expect(receiver.changes).toEqual([told('FLAGGED'), told('UNFLAGGED')]);
    },
  );

  it('of its throughput is told, and one of its colour is not', async () => {
    const { simulator, receiver } = await startBoth();
    await control(simulator, 'PUT', `senders/${SENDER}`, { qualityRating: 'YELLOW' });
    expect(receiver.changes).toEqual([]);
    await control(simulator, 'PUT', `senders/${SENDER}`, { throughputLevel: 'HIGH' });
    expect(receiver.changes).toMatchObject([{ value: { event: 'THROUGHPUT_UPGRADE' } }]);
  });

  it.each([
    ['RESTRICTED', 131048],
    ['DISCONNECTED', 133010],
  ])('to %s makes its sends fail', async (status, code) => {
    const simulator = await start();
    await control(simulator, 'PUT', `senders/${SENDER}`, { status });
    expect((await send(simulator)).json.error.code).toBe(code);
    expect((await send(simulator, bodyOf(), { sender: '2' })).status).toBe(200);
  });
});

describe('a change of a business account', () => {
  it.each([
    ['restricted', 368, 'ACCOUNT_RESTRICTION', 'ACCOUNT_RESTRICTION'],
    ['disabled', 131031, 'DISABLED_UPDATE', 'DISABLED_UPDATE'],
  ])('to %s is told, stops its numbers, and ends', async (condition, code, event, end) => {
    const { simulator, receiver } = await startBoth({
      senders: [{ phoneNumberId: SENDER }, { phoneNumberId: '2', wabaId: '77' }],
    });
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}`, { condition });
    expect(receiver.changes).toMatchObject([{ id: ACCOUNT, field: 'account_update', value: { event } }]);
    expect((await send(simulator)).json.error.code).toBe(code);
    expect((await send(simulator, bodyOf(), { sender: '2' })).status).toBe(200);
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}`, { condition: 'active' });
    expect(receiver.changes[1]).toMatchObject({ value: { event: end } });
    expect((await send(simulator)).status).toBe(200);
  });

  it('to a payment problem is told by the sends alone', async () => {
    const { simulator, receiver } = await startBoth();
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}`, { condition: 'payment_issue' });
    expect(receiver.changes).toEqual([]);
    expect((await send(simulator)).json.error.code).toBe(131042);
  });

  it('that decides its review is told', async () => {
    const { simulator, receiver } = await startBoth();
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}`, { accountReviewStatus: 'REJECTED' });
    expect(receiver.changes).toEqual([
      { id: ACCOUNT, field: 'account_review_update', value: { decision: 'REJECTED' } },
    ]);
  });

  it('that is no longer subscribed sends no webhook at all', async () => {
    const { simulator, receiver } = await startBoth();
    await control(simulator, 'PUT', `business-accounts/${ACCOUNT}`, { subscribed: false });
    await control(simulator, 'PUT', TEMPLATE, { status: 'PAUSED' });
    const { json } = await send(simulator, bodyOf({ language: 'en' }));
    expect(await simulator.markRead(json.messages[0].id)).toBe(true);
    expect(await simulator.reportMessage(json.messages[0].id)).toBe(true);
    expect(receiver.webhooks).toEqual([]);
    expect(simulator.messages()[0]).toMatchObject({ status: 'read' });
  });
});

describe('a change of the messaging limit', () => {
  it('is told to each account and each number, and is shared by all numbers', async () => {
    const { simulator, receiver } = await startBoth({
      senders: [{ phoneNumberId: SENDER }, { phoneNumberId: '2' }],
    });
    await control(simulator, 'PUT', 'portfolio', { messagingLimit: 'TIER_50' });
    const update = (display: string) => ({
      id: ACCOUNT,
      field: 'phone_number_quality_update',
      value: {
        display_phone_number: display,
        event: 'DOWNGRADE',
        old_limit: 'TIER_UNLIMITED',
        current_limit: 'TIER_50',
        max_daily_conversations_per_business: 'TIER_50',
      },
    });
    expect(receiver.changes).toEqual([
      {
        id: ACCOUNT,
        field: 'business_capability_update',
        value: { max_daily_conversations_per_business: 50, max_phone_numbers_per_waba: 25 },
      },
      update('15552242922'),
      update('15550000002'),
    ]);
    for (let n = 0; n < 50; n += 1)
      await send(simulator, bodyOf({ to: `+55119876543${String(n).padStart(2, '0')}` }));
    expect((await send(simulator, bodyOf({ to: OTHER }))).json.error.code).toBe(131048);
    expect((await send(simulator, bodyOf({ to: OTHER }), { sender: '2' })).json.error.code).toBe(131048);
    expect((await send(simulator, bodyOf({ to: '+5511987654321' }))).status).toBe(200);
    await control(simulator, 'PUT', 'portfolio', { messagingLimit: 'TIER_UNLIMITED' });
    expect(receiver.changes[3]).toMatchObject({ value: { max_daily_conversations_per_business: -1 } });
    expect((await send(simulator, bodyOf({ to: OTHER }))).status).toBe(200);
  });
});

describe('the webhook of a change', () => {
  it('comes again until it is answered with 200', async () => {
    const { simulator, receiver } = await startBoth();
    receiver.answer = (number) => (number === 1 ? 500 : 200);
    await control(simulator, 'PUT', TEMPLATE, { status: 'PAUSED' });
    await until('2 webhooks', () => receiver.webhooks.length === 2);
    expect(receiver.webhooks[1]!.rawBody).toBe(receiver.webhooks[0]!.rawBody);
  });

  it('can be any change of any field', async () => {
    const { simulator, receiver } = await startBoth();
    const value = { display_phone_number: '15552242922', event: 'PIN_RESET_REQUEST', requester: '615' };
    expect((await control(simulator, 'POST', 'webhooks', { field: 'security', value })).status).toBe(204);
    await control(simulator, 'POST', 'webhooks', { wabaId: '77', field: 'account_alerts', value: {} });
    expect(receiver.changes).toEqual([
      { id: ACCOUNT, field: 'security', value },
      { id: '77', field: 'account_alerts', value: {} },
    ]);
    expect((await control(simulator, 'POST', 'webhooks', { field: 'Not a field' })).status).toBe(422);
  });
});

describe('the person behind the phone', () => {
  it('says once that they did not ask for a code', async () => {
    const { simulator, receiver } = await startBoth();
    const { json } = await send(simulator);
    const { id } = json.messages[0];
    const path = `messages/${encodeURIComponent(id)}/did-not-request`;
    expect(await control(simulator, 'POST', path)).toMatchObject({
      status: 200,
      json: { reportedAt: expect.stringMatching(/Z$/) },
    });
    expect(receiver.replies).toMatchObject([
      {
        context: { from: '15552242922', id },
        from: '551187654321',
        type: 'button',
        button: { payload: 'DID_NOT_REQUEST_CODE' },
      },
    ]);
    expect((await control(simulator, 'POST', path)).status).toBe(409);
    expect((await control(simulator, 'POST', 'messages/wamid.none/did-not-request')).status).toBe(404);
  });

  it('writes back', async () => {
    const { simulator, receiver } = await startBoth();
    const { json } = await send(simulator);
    const path = `messages/${encodeURIComponent(json.messages[0].id)}/reply`;
    expect((await control(simulator, 'POST', path, { text: 'Quem é?' })).json).toEqual({
      webhook_status: 200,
    });
    expect(receiver.replies).toMatchObject([{ type: 'text', text: { body: 'Quem é?' } }]);
    expect((await control(simulator, 'POST', path, { text: '' })).status).toBe(422);
  });
});

describe('the identity check', () => {
  const withHash = (identityKeyHash: string) => ({
    ...bodyOf(),
    recipient_identity_key_hash: identityKeyHash,
  });
  const graphSettings = async (url: string, change?: object) => {
    const response = await fetch(`${url}/${SENDER}/settings`, {
      method: change ? 'POST' : 'GET',
      headers: { Authorization: 'Bearer token', 'Content-Type': 'application/json' },
      ...(change ? { body: JSON.stringify({ user_identity_change: change }) } : {}),
    });
    return { status: response.status, json: await response.json() };
  };

  it('delivers to the person that is meant, and fails once the number has changed hands', async () => {
    const { simulator, receiver } = await startBoth();
    const path = `identities/${encodeURIComponent(RECIPIENT)}`;
    const { identityKeyHash } = (await control(simulator, 'GET', path)).json;
    expect(identityKeyHash).toMatch(/^[A-Za-z0-9+/]{11}=$/);
    await send(simulator, withHash(identityKeyHash));
    await until('2 statuses', () => receiver.words.length === 2);
    expect(receiver.words).toEqual(['sent', 'delivered']);

    const changed = await control(simulator, 'POST', `${path}/change-hands`);
    expect(changed.json.identityKeyHash).not.toBe(identityKeyHash);
    expect((await send(simulator, withHash(identityKeyHash))).status).toBe(200);
    await until('3 statuses', () => receiver.words.length === 3);
    expect(receiver.statuses[2]).toMatchObject({ status: 'failed', errors: [{ code: 137000 }] });
    await send(simulator, withHash(changed.json.identityKeyHash));
    await until('5 statuses', () => receiver.words.length === 5);
    expect(receiver.words.at(-1)).toBe('delivered');
  });

  it.each([{ enable_identity_key_check: true }, { enabled: true }])(
    'tells the hash in webhooks once the number switched it on by %j',
    async (change) => {
      const { simulator, receiver } = await startBoth();
      expect(await graphSettings(simulator.apiUrl)).toEqual({
        status: 200,
        json: { user_identity_change: { enable_identity_key_check: false } },
      });
      await send(simulator);
      await until('2 statuses', () => receiver.words.length === 2);
      expect(receiver.statuses[0]).not.toHaveProperty('recipient_identity_key_hash');
      expect(await graphSettings(simulator.apiUrl, change)).toEqual({ status: 200, json: { success: true } });
      const { json } = await send(simulator);
      await until('4 statuses', () => receiver.words.length === 4);
      const hash = simulator.business.identities.hashOf(RECIPIENT);
      expect(receiver.statuses[3]).toMatchObject({ recipient_identity_key_hash: hash });
      await simulator.reportMessage(json.messages[0].id);
      expect(receiver.webhooks.at(-1)!.rawBody).toContain('identity_key_hash');
    },
  );

  it('is refused with settings that say nothing of it', async () => {
    const simulator = await start();
    expect(await graphSettings(simulator.apiUrl, {})).toMatchObject({
      status: 400,
      json: { error: { code: 100 } },
    });
  });
});
