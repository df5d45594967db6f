import { describeWithReference, recipientKeysOf, reference, TEST_NUMBER_PEPPER } from '@onecode/testing';
import fc from 'fast-check';
import { parseWebhook as parseWithPepper } from '../src/index.js';
import { messageIdOf } from '../src/message.js';

const parseWebhook = (body: Buffer) => parseWithPepper(body, TEST_NUMBER_PEPPER)!;
/** Returns the reports of a post with one entry. */
const parsePost = (changes: unknown[], entry: object = {}) => {
  const post = { object: 'whatsapp_business_account', entry: [{ id: '1', changes, ...entry }] };
  return parseWebhook(Buffer.from(JSON.stringify(post)));
};

describe('receipts', () => {
  const SEND = '0190a6f2-5c1d-7b3e-9f00-1234567890ab';
  const ATTEMPT = `${SEND}.2`;
  const STATUS = {
    id: 'wamid.ABC=',
    status: 'delivered',
    timestamp: '1763629203',
    recipient_id: '5511912345678',
    biz_opaque_callback_data: ATTEMPT,
  };

  const post = (...statuses: unknown[]) => ({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value: { statuses } }] }],
  });
  const parseReceipts = (body: Buffer) => parseWebhook(body).receipts;
  const parse = (body: unknown) => parseReceipts(Buffer.from(JSON.stringify(body)));
  const parseOne = (change: Record<string, unknown>) => parse(post({ ...STATUS, ...change }))[0];

  describe('a status webhook', () => {
    it('becomes a receipt with message, attempt, status and the time of the provider', () => {
      expect(parse(post(STATUS))).toEqual([
        {
          messageId: messageIdOf('wamid.ABC='),
          attempt: { sendId: SEND, number: 2 },
          status: 'delivered',
          occurredAt: new Date('2025-11-20T09:00:03Z'),
          failure: null,
        },
      ]);
    });

    it('may contain a thousand statuses in several entries and changes, with duplicates', () => {
      const statuses = Array.from({ length: 250 }, (_, index) => ({ ...STATUS, id: `wamid.${index % 200}` }));
      const change = { field: 'messages', value: { statuses } };
      const receipts = parse({ entry: [{ changes: [change, change] }, { changes: [change, change] }] });
      expect(receipts).toHaveLength(1000);
      expect(receipts[249]?.messageId).toBe(messageIdOf('wamid.49'));
    });

    it.each(['sent', 'delivered', 'read', 'failed'])('is a receipt if the status is %s', (status) => {
      expect(parseOne({ status })?.status).toBe(status);
    });

    it.each(['deleted', 'warning', 'SENT', '', null, 7, undefined])(
      'is ignored if the status is %j',
      (status) => {
        expect(parse(post({ ...STATUS, status }))).toEqual([]);
      },
    );

    it('is ignored if it reports a payment', () => {
      expect(parse(post({ ...STATUS, type: 'payment', status: 'failed' }))).toEqual([]);
      expect(parseOne({ type: 'message' })).toBeDefined();
    });
  });

  describe('the identity', () => {
    it.each<[unknown, string | undefined]>([
      ['DF2lS5v2W6x=', 'DF2lS5v2W6x='],
      ['', undefined],
      ['x'.repeat(129), undefined],
      ['a text', undefined],
      [7, undefined],
      [undefined, undefined],
    ])('is read from %j as %j', (hash, expected) => {
      expect(parseOne({ recipient_identity_key_hash: hash })?.identityHash).toBe(expected);
    });
  });

  describe('the price', () => {
    const PRICING = { billable: true, pricing_model: 'PMP', category: 'authentication', type: 'regular' };
    const price = { category: 'authentication', type: 'regular', billable: true, model: 'PMP' };
    it.each<[unknown, unknown]>([
      [PRICING, price],
      [
        { ...PRICING, billable: false },
        { ...price, billable: false },
      ],
      [{ category: 'utility' }, { category: 'utility', type: 'unknown', billable: true, model: 'unknown' }],
      [{ ...PRICING, category: undefined }, undefined],
      [{ ...PRICING, category: 'several words' }, undefined],
      [
        { ...PRICING, category: 'authentication-international' },
        { ...price, category: 'authentication_international' },
      ],
      [
        { ...PRICING, category: 'authentication_international' },
        { ...price, category: 'authentication_international' },
      ],
      [
        { ...PRICING, type: 'x'.repeat(41) },
        { ...price, type: 'unknown' },
      ],
      [null, undefined],
    ])('is read from %j as %j', (pricing, expected) => {
      expect(parseOne({ pricing })?.pricing).toEqual(expected);
    });
  });

  describe('the attempt', () => {
    it.each<unknown>([
      ATTEMPT.toUpperCase(),
      SEND,
      `${SEND}.0`,
      `${SEND}.02`,
      `${SEND}.32768`,
      `${ATTEMPT}\n`,
      null,
      7,
      { toString: 1 },
    ])('is null when the opaque data is %j', (biz_opaque_callback_data) => {
      expect(parseOne({ biz_opaque_callback_data })).toMatchObject({
        messageId: messageIdOf(STATUS.id),
        attempt: null,
      });
    });
  });

  describe('a message id', () => {
    it.each([
      ['NUL', 'wamid.\u0000'],
      ['a line break', 'wamid.\n'],
      ['DEL', 'wamid.\u007f'],
      ['a lone surrogate', 'wamid.\ud800'],
      ['empty', ''],
      ['513 characters', 'w'.repeat(513)],
      ['a number', 7],
      ['missing', undefined],
    ])('excludes only its own status if the database cannot store it: %s', (_, id) => {
      const receipts = parse(post({ ...STATUS, id }, STATUS));
      expect(receipts.map(({ messageId }) => messageId)).toEqual([messageIdOf(STATUS.id)]);
    });

    it('is accepted with 512 characters', () => {
      expect(parseOne({ id: 'w'.repeat(512) })).toBeDefined();
    });
  });

  describe('the time', () => {
    it('is read from a number', () => {
      expect(parseOne({ timestamp: 1763629203 })?.occurredAt).toEqual(new Date(1763629203000));
    });

    it.each<unknown>([undefined, null, '', '1.5', '1763629203000', 1e300, {}, { toString: 1 }])(
      'is the current time if the timestamp is %j',
      (timestamp) => {
        const before = Date.now();
        const occurredAt = parseOne({ timestamp })?.occurredAt.getTime();
        expect(occurredAt).toBeGreaterThanOrEqual(before);
        expect(occurredAt).toBeLessThanOrEqual(Date.now());
      },
    );
  });

  describe('a failed status', () => {
    it.each<[unknown, object]>([
      [[{ code: 130497 }], { kind: 'config', scope: 'country', errorCode: 130497 }],
      [[{ code: 131048 }, { code: 131026 }], { kind: 'sender', errorCode: 131048 }],
      [[{ code: '131026' }], { kind: 'recipient', errorCode: 131026 }],
      [[{ code: 1e12 }], { kind: 'recipient', errorCode: null }],
      [[{}], { kind: 'recipient', errorCode: null }],
      [undefined, { kind: 'recipient', errorCode: null }],
      ['nonsense', { kind: 'recipient', errorCode: null }],
    ])('contains the meaning of the errors %j', (errors, failure) => {
      expect(parseOne({ status: 'failed', errors })?.failure).toMatchObject(failure);
    });

    it('contains no text of the provider, and other statuses contain no failure', () => {
      const quoting = `to ${STATUS.recipient_id}`;
      const errors = [{ code: 987654, title: quoting, message: quoting, error_data: { details: quoting } }];
      const { failure } = parseOne({ status: 'failed', errors })!;
      expect(JSON.stringify(failure)).not.toContain(STATUS.recipient_id);
      expect(parseOne({ status: 'sent', errors })?.failure).toBeNull();
    });

    it('names the number and the recipient of its message', () => {
      const value = {
        metadata: { phone_number_id: '106540352242922' },
        statuses: [{ ...STATUS, status: 'failed' }],
      };
      const { receipts } = parsePost([{ field: 'messages', value }]);
      expect(receipts[0]!.failure).toMatchObject({
        phoneNumberId: '106540352242922',
        recipientKeys: recipientKeysOf(`+${STATUS.recipient_id}`),
      });
      const bare = { ...STATUS, status: 'failed', recipient_id: 'US.13491208655302741918' };
      expect(Object.keys(parse(post(bare))[0]!.failure!)).toEqual(['kind', 'reason', 'errorCode']);
    });
  });

  describe('unknown content', () => {
    const change = { field: 'messages', value: { statuses: [STATUS] } };

    it.each<[string, unknown]>([
      ['another object', { object: 'page', entry: [{ changes: [change] }] }],
      ['another field', { entry: [{ changes: [{ ...change, field: 'calls' }] }] }],
      ['no entry', { object: 'whatsapp_business_account' }],
      [
        'an incoming message',
        { entry: [{ changes: [{ field: 'messages', value: { messages: [STATUS] } }] }] },
      ],
      ['an array', [STATUS]],
      ['null', null],
      ['statuses that are not an array', { entry: [{ changes: [{ value: { statuses: STATUS } }] }] }],
      ['an object with __proto__', JSON.parse('{"__proto__":{"entry":[{"changes":[]}]}}')],
    ])('gives no receipt: %s', (_, body) => {
      expect(parse(body)).toEqual([]);
    });

    it('does not hide valid entries', () => {
      fc.assert(
        fc.property(fc.array(fc.jsonValue()), fc.array(fc.jsonValue()), (before, after) => {
          const around = (right: unknown) => [...before, right, ...after];
          const body = {
            object: 'whatsapp_business_account',
            entry: around({ changes: around({ field: 'messages', value: { statuses: around(STATUS) } }) }),
          };
          expect(parse(body).map(({ messageId }) => messageId)).toContain(messageIdOf(STATUS.id));
        }),
      );
    });
  });

  describe('parseWebhook', () => {
    const known = fc.constantFrom<unknown>(
      'failed',
      'sent',
      'messages',
      STATUS.id,
      ATTEMPT,
      '1763629203',
      131026,
    );
    const leaf = fc.oneof(known, fc.jsonValue({ maxDepth: 2 }));
    // Four lists are nested: longer ones only repeat the same cases.
    const list = <T>(item: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 4, arbitrary: fc.array(item, { maxLength: 3 }) }, leaf);
    const almostStatus = fc.record(
      {
        id: leaf,
        status: leaf,
        type: leaf,
        timestamp: leaf,
        biz_opaque_callback_data: leaf,
        errors: list(fc.oneof(fc.record({ code: leaf, error_subcode: leaf }), leaf)),
      },
      { requiredKeys: [] },
    );
    const almostPost = fc.record({
      entry: list(
        fc.record({ changes: list(fc.record({ value: fc.record({ statuses: list(almostStatus) }) })) }),
      ),
    });

    it('accepts any JSON or malformed webhook, and returns values that the database can store', () => {
      fc.assert(
        fc.property(fc.oneof(fc.jsonValue(), almostPost), (body) => {
          for (const { messageId, occurredAt, failure, status } of parse(body)) {
            expect(messageId).not.toContain('\u0000');
            expect(occurredAt.toISOString()).toMatch(/^(19|20)\d\d-/);
            expect(failure !== null).toBe(status === 'failed');
          }
        }),
        { numRuns: 500 },
      );
    });

    it('returns no receipt for random bytes', () => {
      fc.assert(
        fc.property(fc.uint8Array(), (bytes) => {
          const reports = parseWithPepper(Buffer.from(bytes), TEST_NUMBER_PEPPER);
          expect(reports?.receipts ?? []).toEqual([]);
        }),
      );
    });

    it('accepts JSON that is nested 100,000 levels deep', () => {
      const deep = '['.repeat(100_000) + ']'.repeat(100_000);
      const text = JSON.stringify(
        post({ ...STATUS, status: 'failed', timestamp: '@', errors: '@', extra: '@' }),
      );
      const [receipt] = parseReceipts(Buffer.from(text.replaceAll('"@"', deep)));
      expect(receipt).toMatchObject({ messageId: messageIdOf(STATUS.id), failure: { kind: 'recipient' } });
      expect(parseReceipts(Buffer.from(deep))).toEqual([]);
    });

    it.each(['', '{', 'null null', '{"entry":[{]}', '<html>'])('returns null for %j', (text) => {
      expect(parseWithPepper(Buffer.from(text), TEST_NUMBER_PEPPER)).toBeNull();
    });
  });

  describeWithReference('the reference webhooks', () => {
    const read = (name: string) => parseReceipts(Buffer.from(reference(`samples/${name}`)));

    it('keep the order of the statuses in one post', () => {
      const statuses = read('webhook.batched-out-of-order.json').map(({ status }) => status);
      expect(statuses).toEqual(['delivered', 'sent', 'read']);
    });

    it.each<[string, object]>([
      ['webhook.status.sent.json', { status: 'sent', occurredAt: new Date(1750030073000) }],
      ['webhook.status.delivered.v24-auth.json', { status: 'delivered' }],
      ['webhook.status.failed-131026.auth.json', { failure: { kind: 'recipient', errorCode: 131026 } }],
      ['webhook.status.failed-130497.auth.json', { failure: { kind: 'config', scope: 'country' } }],
    ])('contain one receipt: %s', (name, expected) => {
      const receipts = read(name);
      expect(receipts).toHaveLength(1);
      expect(receipts[0]).toMatchObject(expected);
    });
  });
});

describe('denials', () => {
  const MESSAGE = {
    context: { from: '15550783881', id: 'wamid.OURS=' },
    from: '5511912345678',
    id: 'wamid.THEIRS=',
    timestamp: '1763629203',
    type: 'button',
    button: { payload: 'DID_NOT_REQUEST_CODE', text: "I didn't request a code" },
  };
  const parse = (...messages: unknown[]) => parsePost([{ field: 'messages', value: { messages } }]);

  describe('an incoming message', () => {
    it('is a denial of its context message if its payload is DID_NOT_REQUEST_CODE', () => {
      expect(parse(MESSAGE)).toMatchObject({
        receipts: [],
        denials: [{ messageId: messageIdOf('wamid.OURS='), occurredAt: new Date('2025-11-20T09:00:03Z') }],
      });
    });

    it.each<[string, unknown]>([
      ['another button', { ...MESSAGE, button: { payload: 'STOP', text: 'DID_NOT_REQUEST_CODE' } }],
      ['a text', { ...MESSAGE, type: 'text', text: { body: 'DID_NOT_REQUEST_CODE' } }],
      ['no context', { ...MESSAGE, context: undefined }],
      ['a context without an id', { ...MESSAGE, context: { from: '15550783881' } }],
      ['an impossible id', { ...MESSAGE, context: { id: 'wamid.\u0000' } }],
      ['a button that is not an object', { ...MESSAGE, button: 'DID_NOT_REQUEST_CODE' }],
      ['null as the message', null],
    ])('is not a denial with %s', (_, message) => {
      expect(parse(message)).toMatchObject({ receipts: [], denials: [] });
    });
  });

  describeWithReference('the provider’s sample', () => {
    it('is a denial', () => {
      const sample = reference('samples/webhook.button.did-not-request-code.json');
      expect(parseWebhook(Buffer.from(sample)).denials).toEqual([
        {
          messageId: messageIdOf('wamid.HBgLMTIxMTU1NTE0NTYVAgARGBJDMDEyMTFDNTE5NkFCOUU3QTEA'),
          occurredAt: new Date(1753919111000),
        },
      ]);
    });
  });
});

describe('changes', () => {
  const ACCOUNT = '102290129340398';
  const parse = (changes: unknown[], entry: object = {}) =>
    parsePost(changes, { id: ACCOUNT, time: 1_751_247_548, ...entry }).changes;
  const alert = {
    field: 'account_alerts',
    value: { alert_info: { alert_type: 'OBA_APPROVED' } },
  };

  describe('a change in a webhook', () => {
    it('is returned with its business account and its time', () => {
      const [change, ...others] = parse([alert]);
      expect(others).toEqual([]);
      expect(change).toEqual({
        businessAccountId: ACCOUNT,
        report: { alert: { type: 'OBA_APPROVED', severity: null, detail: null } },
        occurredAt: new Date('2025-06-30T01:39:08Z'),
      });
    });

    it('is ignored if it has another field or no business account', () => {
      expect(parse([{ field: 'messages', value: {} }, { field: 'flows', value: {} }, 'nothing'])).toEqual([]);
      expect(parse([alert], { id: 'onecode' })).toEqual([]);
    });

    it('contains only text that PostgreSQL can store', () => {
      const value = { event: 'a\0b\ud800c', ['na\0me']: 'd\0' };
      expect(parse([{ field: 'security', value }])).toMatchObject([
        { report: { alert: { type: 'abc', detail: 'name: d' } } },
      ]);
    });

    it('has a limited length of texts, and a limited depth', () => {
      const long = 'a'.repeat(10_000);
      const [change] = parse([
        { field: 'security', value: { event: long, long, list: Array(1_000).fill('a') } },
      ]);
      expect(change!.report).toMatchObject({
        alert: { type: long.slice(0, 500), detail: `long: ${long}`.slice(0, 500) },
      });
      const deep = '['.repeat(50_000) + ']'.repeat(50_000);
      const post = `{"entry":[{"id":"7","changes":[{"field":"security","value":{"event":"x","deep":${deep}}}]}]}`;
      expect(parseWebhook(Buffer.from(post)).changes).toMatchObject([
        { report: { alert: { detail: null } } },
      ]);
    });

    it('has the business account that its content names', () => {
      const value = { event: 'ACCOUNT_DELETED', waba_info: { waba_id: '999', owner_business_id: '5' } };
      expect(parse([{ field: 'account_update', value }])).toMatchObject([{ businessAccountId: '999' }]);
    });

    it('has the current time if its time is more than five minutes ahead', () => {
      const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
      const [near, far] = [inSeconds(290), inSeconds(330)];
      expect(parse([alert], { time: near })[0]!.occurredAt).toEqual(new Date(near * 1000));
      expect(parse([alert], { time: far })[0]!.occurredAt.getTime()).toBeLessThanOrEqual(Date.now());
    });

    it('comes with the business accounts of the numbers in `messages`', () => {
      const value = { metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' } };
      const { businessAccounts } = parsePost([{ field: 'messages', value }], { id: ACCOUNT });
      expect([...businessAccounts]).toEqual([['106540352242922', ACCOUNT]]);
    });
  });

  const reportOf = (field: string, value: object) => parse([{ field, value }])[0]?.report ?? null;

  describe('the report in a change', () => {
    const template = {
      message_template_name: 'verification_code',
      message_template_language: 'pt-BR',
      message_template_category: 'AUTHENTICATION',
    };
    const named = { name: 'verification_code', language: 'pt_BR' };

    it.each<[event: string, value: object, status: string, reason: string | null]>([
      ['PAUSED', { reason: 'NONE', other_info: { title: 'FIRST_PAUSE' } }, 'PAUSED', 'FIRST_PAUSE'],
      ['REJECTED', { reason: 'INVALID_FORMAT' }, 'REJECTED', 'INVALID_FORMAT'],
      ['APPROVED', { reason: 'NONE' }, 'APPROVED', null],
      ['REINSTATED', {}, 'APPROVED', null],
      ['UNARCHIVED', {}, 'APPROVED', null],
      ['SPARKLING', {}, 'SPARKLING', null],
    ])('returns the status of a template that is %s', (event, value, status, reason) => {
      expect(reportOf('message_template_status_update', { ...template, event, ...value })).toMatchObject({
        template: { ...named, values: { category: 'AUTHENTICATION', status, reason } },
      });
    });

    it('returns a template’s quality and category', () => {
      const valuesOf = (field: string, value: object) => {
        const report = reportOf(field, { ...template, ...value });
        expect(report).toMatchObject({ template: named });
        return report!.template!.values;
      };
      expect(valuesOf('message_template_quality_update', { new_quality_score: 'RED' })).toEqual({
        quality: 'RED',
      });
      const now = { new_category: 'AUTHENTICATION' };
      const soon = { ...now, correct_category: 'MARKETING' };
      expect([now, soon].map((value) => valuesOf('template_category_update', value))).toEqual([
        { category: 'AUTHENTICATION', nextCategory: null },
        { category: 'AUTHENTICATION', nextCategory: 'MARKETING' },
      ]);
    });

    it.each<[field: string, value: object, values: object]>([
      ['phone_number_quality_update', { current_limit: 'TIER_100K' }, { messagingLimit: 'TIER_100K' }],
      [
        'phone_number_quality_update',
        { max_daily_conversations_per_business: 'TIER_2K' },
        { messagingLimit: 'TIER_2K' },
      ],
      [
        'business_capability_update',
        { max_daily_conversations_per_business: 250 },
        { messagingLimit: 'TIER_250' },
      ],
      [
        'business_capability_update',
        { max_daily_conversations_per_business: -1 },
        { messagingLimit: 'TIER_UNLIMITED' },
      ],
      [
        'business_capability_update',
        { max_daily_conversations_per_business: 10_000 },
        { messagingLimit: 'TIER_10K' },
      ],
      ['business_capability_update', {}, {}],
    ])('returns the messaging limit of all numbers: %s %j', (field, value, values) => {
      expect(reportOf(field, value)).toEqual({ numbers: values });
    });

    it('returns a higher throughput as an alert', () => {
      const event = { event: 'THROUGHPUT_UPGRADE', current_limit: 'TIER_UNLIMITED' };
      const value = { display_phone_number: '15550783881', ...event };
      expect(reportOf('phone_number_quality_update', value)).toEqual({
        alert: {
          type: 'THROUGHPUT_UPGRADE',
          severity: null,
          detail: 'display_phone_number: 15550783881, current_limit: TIER_UNLIMITED',
        },
      });
    });

    const banState = (state: string) => ({ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: state } });
    const restrictions = (...types: string[]) => ({
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: types.map((type) => ({ restriction_type: type, expiration: '1748540794' })),
    });
    it.each<[{ event: string }, refusal: string | null]>([
      [banState('DISABLE'), 'DISABLED_UPDATE'],
      [banState('SCHEDULE_FOR_DISABLE'), null],
      [banState('REINSTATE'), null],
      [{ event: 'ACCOUNT_DELETED' }, 'ACCOUNT_DELETED'],
      [{ event: 'ACCOUNT_OFFBOARDED' }, 'ACCOUNT_OFFBOARDED'],
      [{ event: 'PARTNER_REMOVED' }, 'PARTNER_REMOVED'],
      [{ event: 'ACCOUNT_RECONNECTED' }, null],
      [restrictions(), null],
      [restrictions('RESTRICTED_ADD_PHONE_NUMBER_ACTION'), null],
      [
        restrictions('RESTRICTED_ADD_PHONE_NUMBER_ACTION', 'RESTRICTED_BIZ_INITIATED_MESSAGING'),
        'ACCOUNT_RESTRICTION',
      ],
    ])('returns whether Meta refuses the messages of a business account: %j', (value, refusal) => {
      expect(reportOf('account_update', value)).toMatchObject({
        businessAccount: { refusal },
        alert: { type: value.event },
      });
    });

    it.each<[string, Record<string, unknown>, object]>([
      [
        'account_update',
        { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'ADULT' } },
        { type: 'ACCOUNT_VIOLATION', severity: null, detail: 'violation_type: ADULT' },
      ],
      [
        'account_update',
        {
          event: 'AUTH_INTL_PRICE_ELIGIBILITY_UPDATE',
          auth_international_rate_eligibility: {
            start_time: 1796083200,
            exception_countries: [{ country_code: 'IN', start_time: 1798761600 }],
          },
        },
        {
          type: 'AUTH_INTL_PRICE_ELIGIBILITY_UPDATE',
          severity: null,
          detail:
            'start_time: 2026-12-01T00:00:00.000Z, country_code: IN, start_time: 2027-01-01T00:00:00.000Z',
        },
      ],
      [
        'account_alerts',
        {
          alert_info: {
            alert_severity: 'CRITICAL',
            alert_status: 'ACTIVE',
            alert_type: 'OBA_REJECTED',
            alert_description: 'Your request was rejected.',
          },
        },
        { type: 'OBA_REJECTED', severity: 'CRITICAL', detail: 'Your request was rejected.' },
      ],
      [
        'account_alerts',
        { alert_info: { alert_status: 'NONE', alert_type: 'OBA_REJECTED', alert_description: 'Over.' } },
        { type: 'OBA_REJECTED', severity: null, detail: 'status: NONE, detail: Over.' },
      ],
      [
        'account_review_update',
        { decision: 'REJECTED' },
        { type: 'account_review_update', severity: null, detail: 'decision: REJECTED' },
      ],
      ['security', { event: 'PIN_CHANGED' }, { type: 'PIN_CHANGED', severity: null, detail: null }],
    ])('returns an alert of a business account: %s %j', (field, value, alert) => {
      expect(reportOf(field, value)).toEqual({ alert });
    });

    it('returns null without a name, and for an unknown field', () => {
      expect(reportOf('message_template_status_update', { event: 'PAUSED' })).toBeNull();
      expect(reportOf('flows', {})).toBeNull();
      for (const name of ['a'.repeat(513), 'Code é']) {
        const value = { ...template, message_template_name: name, event: 'PAUSED' };
        expect(reportOf('message_template_status_update', value)).toBeNull();
      }
    });
  });

  describeWithReference('the provider’s samples', () => {
    const reported = (sample: string) =>
      parseWebhook(Buffer.from(reference(`samples/${sample}`))).changes.map(({ report }) => report);

    it('are read', () => {
      expect(reported('webhook.template-status.paused.json')).toMatchObject([
        { template: { language: 'pt_BR', values: { status: 'PAUSED', reason: 'FIRST_PAUSE' } } },
      ]);
      expect(reported('webhook.phone-quality.json')).toMatchObject([
        { alert: { type: 'THROUGHPUT_UPGRADE' } },
      ]);
      expect(reported('webhook.account-update.restriction.json')).toMatchObject([
        { businessAccount: { refusal: 'ACCOUNT_RESTRICTION' }, alert: { type: 'ACCOUNT_RESTRICTION' } },
      ]);
    });
  });
});
