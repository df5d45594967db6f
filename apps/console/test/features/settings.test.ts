import type { SenderReading } from '@onecode/domain';
import { applySenderReading } from '@onecode/store/senders';
import { buildSender } from '@onecode/testing';
import type { SendersView } from '../../src/features/senders/view.js';
import type { ConflictingTemplate } from '../../src/features/settings/view.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const server = useConsole();
let operator: TestPerson;
let onCall: TestPerson;
beforeAll(async () => {
  operator = await person(server, { staff: 'operator' });
  onCall = await person(server, { staff: 'on_call' });
});

const NOTHING_READ: SenderReading = {
  businessAccountId: null,
  portfolioId: null,
  number: {},
  businessAccount: {},
  templates: null,
  failures: { number: 'not read' },
};
const TEMPLATE = { status: 'APPROVED', category: 'AUTHENTICATION', hasCopyCodeButton: true } as const;

describe('the settings', () => {
  it('change only the given fields, and log who changed them and why', async () => {
    await operator.put('/staff/settings', { freeSends: 25, guessBudget: null, reason: 'fewer questions' });

    const { body } = await onCall.get('/staff/settings');
    expect(body).toMatchObject({
      settings: { freeSends: 25, guessBudget: null, codeValiditySeconds: 600, accountRatePerMinute: 600 },
      bounds: { codeValiditySeconds: { min: 60, max: 3_600 } },
    });
    const history = await onCall.get('/staff/audit?area=settings');
    expect(history.body.entries).toMatchObject([
      {
        actor: { name: operator.email },
        changes: [
          { field: 'freeSends', before: 10, after: 25 },
          { field: 'guessBudget', before: 100, after: null },
        ],
        facts: [{ field: 'reason', value: 'fewer questions' }],
      },
    ]);
  });

  it.each([
    [{ codeValiditySeconds: 59 }, { codeValiditySeconds: 'minimum' }],
    [{ codeValiditySeconds: 3_601 }, { codeValiditySeconds: 'maximum' }],
    [{ codeValiditySeconds: null }, { codeValiditySeconds: 'type' }],
    [{ guessBudget: 4 }, { guessBudget: 'minimum' }],
    [{ freeSends: 9, reason: ' ' }, { reason: 'pattern' }],
    [{ freeSends: 9, reason: undefined }, { reason: 'required' }],
  ])('refuse %j', async (body, errors) => {
    const before = (await onCall.get('/staff/settings')).body;

    expect(await operator.put('/staff/settings', { reason: 'a test', ...body })).toMatchObject({
      status: 422,
      body: { errors },
    });

    expect((await onCall.get('/staff/settings')).body).toEqual(before);
  });

  it('list the templates that contradict a new validity, as the sender’s checks do after the change', async () => {
    const { database } = server.db;
    const { id } = await buildSender(database);
    const templates = [
      { language: 'pt_BR', values: { ...TEMPLATE, ttlSeconds: 300, codeExpirationMinutes: 5 } },
      { language: 'en', values: { ...TEMPLATE, ttlSeconds: 900, codeExpirationMinutes: null } },
    ];
    await applySenderReading(
      database,
      { id, template: 'verification_code' },
      { ...NOTHING_READ, businessAccountId: '102290129340398', templates },
      new Date(),
    );

    const conflicts = async (seconds: number): Promise<ConflictingTemplate[]> => {
      const path = `/staff/settings/conflicting-templates?codeValiditySeconds=${seconds}`;
      return (await operator.get<{ templates: ConflictingTemplate[] }>(path)).body.templates;
    };
    expect(await conflicts(600)).toMatchObject([
      { name: 'verification_code', language: 'en', footerMinutes: null, ttlSeconds: 900 },
      { name: 'verification_code', language: 'pt_BR', footerMinutes: 5 },
    ]);
    expect(await conflicts(240)).toMatchObject([
      { language: 'en', footerMinutes: null, ttlSeconds: 900 },
      { language: 'pt_BR', footerMinutes: 5, ttlSeconds: 300 },
    ]);

    await operator.put('/staff/settings', { codeValiditySeconds: 240, reason: 'a test' });
    const { senders } = (await operator.get<SendersView>('/staff/senders')).body;
    const { checks } = senders.find((one) => one.id === id)!.provider;
    expect(checks.filter(({ check }) => /^template_(ttl|footer)$/.test(check))).toMatchObject([
      { ok: false, facts: { templates: 'en (15 min), pt_BR (5 min)', validity: '4 min' } },
      { ok: false, facts: { templates: 'en (–), pt_BR (5 min)', validity: '4 min' } },
    ]);
    await operator.put('/staff/settings', { codeValiditySeconds: 600, reason: 'a test' });
  });
});
