import { describeWithReference, reference } from '@onecode/testing';
import { parseWebhook, reportOf } from '../src/index.js';

const ACCOUNT = '102290129340398';
const parse = (changes: unknown[], entry: object = {}) =>
  parseWebhook(
    Buffer.from(
      JSON.stringify({
        object: 'whatsapp_business_account',
        entry: [{ id: ACCOUNT, time: 1_751_247_548, changes, ...entry }],
      }),
    ),
  ).changes;
const alert = { field: 'account_alerts', value: { alert_type: 'OBA_APPROVED', unknown: { kept: true } } };

describe('a change in a webhook', () => {
  it('is kept whole, with its time and a digest that tells repeats', () => {
    const [change, ...others] = parse([alert]);
    expect(others).toEqual([]);
    expect(change).toEqual({
      digest: expect.any(Buffer),
      businessAccountId: ACCOUNT,
      field: 'account_alerts',
      value: alert.value,
      occurredAt: new Date('2025-06-30T01:39:08Z'),
    });
    expect(parse([alert])[0]!.digest).toEqual(change!.digest);
    for (const other of [parse([alert], { time: 1_751_247_549 }), parse([{ ...alert, value: {} }])])
      expect(other[0]!.digest).not.toEqual(change!.digest);
  });

  it.each([
    'message_template_status_update',
    'message_template_quality_update',
    'template_category_update',
    'phone_number_quality_update',
    'account_update',
    'account_alerts',
    'account_review_update',
    'business_capability_update',
    'security',
  ])('of %s is read', (field) => {
    expect(parse([{ field, value: {} }])).toMatchObject([{ field }]);
  });

  it('of another field is not, nor one of no business account', () => {
    expect(parse([{ field: 'messages', value: {} }, { field: 'flows', value: {} }, 'nothing'])).toEqual([]);
    expect(parse([alert], { id: 'onecode' })).toEqual([]);
  });

  it('has no text that PostgreSQL cannot hold', () => {
    const value = { alert_description: 'a\0b\ud800c' };
    expect(parse([{ field: 'account_alerts', value }])[0]!.value).toEqual({ alert_description: 'abc' });
  });

  it('comes beside messages, which tell the business accounts of numbers', () => {
    const value = { metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' } };
    const { businessAccounts } = parseWebhook(
      Buffer.from(JSON.stringify({ entry: [{ id: ACCOUNT, changes: [{ field: 'messages', value }] }] })),
    );
    expect([...businessAccounts]).toEqual([['106540352242922', ACCOUNT]]);
  });
});

describe('what a change says', () => {
  const template = {
    message_template_name: 'verification_code',
    message_template_language: 'pt-BR',
    message_template_category: 'AUTHENTICATION',
  };
  const about = { about: 'template', name: 'verification_code', language: 'pt_BR' };

  it.each<[string, object, object]>([
    [
      'PAUSED',
      { reason: 'NONE', other_info: { title: 'FIRST_PAUSE' } },
      { status: 'PAUSED', reason: 'FIRST_PAUSE' },
    ],
    ['REJECTED', { reason: 'INVALID_FORMAT' }, { status: 'REJECTED', reason: 'INVALID_FORMAT' }],
    ['APPROVED', { reason: 'NONE' }, { status: 'APPROVED', reason: null }],
    ['REINSTATED', {}, { status: 'APPROVED' }],
    ['UNARCHIVED', {}, { status: 'APPROVED' }],
    ['SPARKLING', {}, { status: 'SPARKLING' }],
  ])('of a template that is %s', (event, value, values) => {
    expect(reportOf('message_template_status_update', { ...template, event, ...value })).toMatchObject({
      ...about,
      values: { category: 'AUTHENTICATION', ...values },
    });
  });

  it('of a template’s quality and category', () => {
    expect(reportOf('message_template_quality_update', { ...template, new_quality_score: 'RED' })).toEqual({
      ...about,
      values: { quality: 'RED' },
    });
    expect(reportOf('template_category_update', { ...template, new_category: 'UTILITY' })).toEqual({
      ...about,
      values: { category: 'UTILITY' },
    });
  });

  it.each<[object, object]>([
    [
      { event: 'FLAGGED', current_limit: 'TIER_10K' },
      { status: 'FLAGGED', messagingLimit: 'TIER_10K' },
    ],
    [{ event: 'UNFLAGGED' }, { status: 'CONNECTED' }],
    [{ event: 'THROUGHPUT_UPGRADE', current_limit: 'TIER_UNLIMITED' }, { throughputLevel: 'HIGH' }],
    [{ event: 'DOWNGRADE', max_daily_conversations_per_business: 'TIER_2K' }, { messagingLimit: 'TIER_2K' }],
    [{ event: 'UPGRADE', current_limit: 'TIER_100K' }, { messagingLimit: 'TIER_100K' }],
  ])('of a number: %j', (value, values) => {
    const number = { display_phone_number: '+1 555-078-3881', ...value };
    expect(reportOf('phone_number_quality_update', number)).toEqual({
      about: 'number',
      displayNumber: '15550783881',
      values,
    });
  });

  it.each<[unknown, object]>([
    [250, { messagingLimit: 'TIER_250' }],
    [-1, { messagingLimit: 'TIER_UNLIMITED' }],
    ['TIER_10K', { messagingLimit: 'TIER_10K' }],
    [777, {}],
  ])('of a business’s limit of %s', (most, values) => {
    expect(reportOf('business_capability_update', { max_daily_conversations_per_business: most })).toEqual({
      about: 'all_numbers',
      values,
    });
  });

  it.each<[string, Record<string, unknown>, object]>([
    [
      'account_update',
      { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } },
      { ban: 'DISABLE' },
    ],
    ['account_update', { event: 'ACCOUNT_DELETED' }, { isDeleted: true }],
    ['account_update', { event: 'ACCOUNT_RESTRICTION', restriction_info: [] }, { restrictions: [] }],
    ['account_update', { event: 'ACCOUNT_VIOLATION' }, { notice: 'ACCOUNT_VIOLATION' }],
    ['account_review_update', { decision: 'REJECTED' }, { review: 'REJECTED' }],
    [
      'account_alerts',
      { alert_type: 'INCREASED_CAPABILITIES_ELIGIBILITY_FAILED' },
      { notice: 'INCREASED_CAPABILITIES_ELIGIBILITY_FAILED' },
    ],
    ['security', { event: 'PIN_CHANGED' }, { notice: 'PIN_CHANGED' }],
  ])('of a business account: %s %j', (field, value, values) => {
    expect(reportOf(field, value)).toEqual({ about: 'business_account', values });
  });

  it('is nothing without a name, and for a field that we do not know', () => {
    expect(reportOf('message_template_status_update', { event: 'PAUSED' })).toBeNull();
    expect(reportOf('phone_number_quality_update', { event: 'FLAGGED' })).toBeNull();
    expect(reportOf('flows', {})).toBeNull();
  });
});

describeWithReference('the provider’s own samples', () => {
  const reported = (sample: string) =>
    parseWebhook(Buffer.from(reference(`samples/${sample}`))).changes.map(({ field, value }) =>
      reportOf(field, value),
    );

  it('are understood', () => {
    expect(reported('webhook.template-status.paused.json')).toMatchObject([
      { about: 'template', language: 'pt_BR', values: { status: 'PAUSED', reason: 'FIRST_PAUSE' } },
    ]);
    expect(reported('webhook.phone-quality.json')).toMatchObject([{ values: { throughputLevel: 'HIGH' } }]);
    expect(reported('webhook.account-update.restriction.json')).toEqual([
      {
        about: 'business_account',
        values: { restrictions: [{ kind: 'RESTRICTED_BIZ_INITIATED_MESSAGING', until: 1_748_540_794 }] },
      },
    ]);
  });
});
