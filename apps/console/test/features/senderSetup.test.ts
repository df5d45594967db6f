import { listAuditEntries } from '@onecode/store/operations';
import { startSimulator, type Simulator } from '@onecode/simulator';
import { buildAccount, buildSender } from '@onecode/testing';
import type {
  AddedView,
  NumbersView,
  SendersView,
  SetupView,
  TestCodeView,
} from '../../src/features/senders/view.js';
import { startConsole, type StartedConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

const BUSINESS_ACCOUNT = '300000000000001';
const NUMBER_ID = '400000000000001';
const NUMBER = '+5511987654321';
const TOKEN = 'EAAG-leaked-token-0123456789';
const PIN = '482913';
const CONNECTION = { businessAccountId: BUSINESS_ACCOUNT, token: TOKEN, template: 'verification_code' };

let simulator: Simulator;
let server: StartedConsole;
let operator: TestPerson;
beforeAll(async () => {
  simulator = await startSimulator({ appSecret: 'secret-of-the-simulator-0123456789' });
  server = await startConsole({ WHATSAPP_API_URL: simulator.apiUrl });
  operator = await person(server, { staff: 'operator' });
});
afterAll(async () => {
  await server.close();
  await simulator.close();
});

/** A business account with one number, as Meta leaves it: not registered, not subscribed, without templates. */
beforeEach(async () => {
  await server.db.sql('delete from senders');
  simulator.reset();
  simulator.changeSettings({ reviewMs: 0 });
  await simulator.business.changeAccount(BUSINESS_ACCOUNT, { startsEmpty: true, subscribed: false });
  await simulator.business.changeSender(NUMBER_ID, {
    wabaId: BUSINESS_ACCOUNT,
    displayPhoneNumber: NUMBER.slice(1),
    status: 'PENDING',
    registered: false,
    verifiedName: 'Loja Azul',
  });
});

/** Adds the number as a sender. @returns its id */
async function add(who: TestPerson = operator, path = '/staff/senders'): Promise<string> {
  const { body } = await who.post<AddedView>(`${path}/setup`, { ...CONNECTION, phoneNumberId: NUMBER_ID });
  expect(body).toEqual({ id: expect.any(String), step: null });
  return body.id!;
}

const statusesOf = ({ steps }: SetupView): Record<string, string> =>
  Object.fromEntries(steps.map(({ step, status }) => [step, status]));
const plan = async (id: string): Promise<SetupView> =>
  (await operator.get<SetupView>(`/staff/senders/${id}/setup`)).body;
const run = async (id: string, pin: string | null, mayChangeTemplates = false): Promise<SetupView> =>
  (await operator.post<SetupView>(`/staff/senders/${id}/setup`, { pin, mayChangeTemplates })).body;
const stepOf = ({ steps }: SetupView, name: string) => steps.find(({ step }) => step === name);

const DONE = {
  token: 'already',
  number: 'already',
  registration: 'already',
  subscription: 'already',
  template_pt_BR: 'already',
  template_en: 'already',
  health: 'already',
};

describe('the setup of a sender', () => {
  it('lists the numbers of a business account, adds one, and sets it up', async () => {
    const listed = await operator.post<NumbersView>('/staff/senders/numbers', CONNECTION);
    expect(listed.body).toEqual({
      step: null,
      numbers: [
        {
          phoneNumberId: NUMBER_ID,
          number: NUMBER,
          verifiedName: 'Loja Azul',
          status: 'PENDING',
          isTaken: false,
        },
      ],
    });
    const id = await add();
    const before = simulator.business.snapshot();
    expect(statusesOf(await plan(id))).toMatchObject({
      registration: 'needs_you',
      subscription: 'waiting',
      template_en: 'waiting',
    });
    expect(simulator.business.snapshot()).toEqual(before);

    const done = await run(id, PIN);
    expect(statusesOf(done)).toEqual({
      ...DONE,
      registration: 'done',
      subscription: 'done',
      template_pt_BR: 'done',
      template_en: 'done',
    });
    expect(simulator.business.sender(NUMBER_ID)).toMatchObject({ registered: true, pin: PIN });
    expect(statusesOf(await plan(id))).toEqual(DONE);
    const { body } = await operator.get<SendersView>('/staff/senders');
    expect(body.senders).toMatchObject([
      { id, number: NUMBER, businessAccountId: BUSINESS_ACCOUNT, isNew: true, accountId: null },
    ]);
    const again = await operator.post<NumbersView>('/staff/senders/numbers', CONNECTION);
    expect(again.body.numbers).toMatchObject([{ isTaken: true, status: 'CONNECTED' }]);
    const log = await listAuditEntries(server.db.database, { actionPrefix: 'sender.', limit: 9 });
    expect(log).toMatchObject([
      {
        action: 'sender.setup',
        subject: id,
        details: { stepsDone: ['registration', 'subscription', 'template_pt_BR', 'template_en'] },
      },
      { action: 'sender.add', subject: id },
    ]);
    expect(JSON.stringify([listed, done, body, log])).not.toMatch(/leaked|482913/);
  });

  it('completes all other steps after a wrong PIN, and continues with the right PIN', async () => {
    // Meta shows numbers as connected that were never registered.
    await simulator.business.changeSender(NUMBER_ID, { pin: '111111', status: 'CONNECTED' });
    const id = await add();
    const refused = await run(id, PIN);
    expect(stepOf(refused, 'registration')).toMatchObject({
      status: 'needs_you',
      texts: [
        { key: 'providerErrors:133005.meaning' },
        { key: 'providerErrors:133005.remedy' },
        { key: 'senderSetup:quote', facts: { quote: expect.stringContaining('133005') } },
      ],
      link: expect.stringContaining(BUSINESS_ACCOUNT),
    });
    expect(statusesOf(refused)).toMatchObject({ subscription: 'done', template_en: 'done' });
    expect(stepOf(await plan(id), 'registration')).toMatchObject({
      texts: [{ key: 'senderSetup:pin_missing' }],
    });
    expect(statusesOf(await run(id, '111111'))).toEqual({ ...DONE, registration: 'done' });
  });

  it('reports templates that are rejected or differ, and changes them only on request', async () => {
    simulator.changeSettings({ review: 'REJECTED' });
    const id = await add();
    expect(stepOf(await run(id, PIN), 'template_en')).toMatchObject({
      status: 'needs_you',
      texts: [{ key: 'preflight:template_status' }],
      detail: expect.stringContaining('INVALID_FORMAT'),
      link: expect.stringContaining('message-templates'),
    });
    simulator.changeSettings({ review: 'APPROVED' });
    const key = { wabaId: BUSINESS_ACCOUNT, name: 'verification_code', language: 'pt_BR' };
    await simulator.business.changeTemplate(key, { status: 'APPROVED', codeExpirationMinutes: 5 });
    expect(stepOf(await run(id, null), 'template_pt_BR')).toMatchObject({
      texts: [{ key: 'preflight:footer_differs' }],
    });
    await run(id, null, true);
    expect(simulator.business.findTemplate(key)).toMatchObject({ codeExpirationMinutes: 10 });
  });

  it.each([
    [{ valid: false }, 'token_invalid'],
    [{ scopes: ['whatsapp_business_messaging'] }, 'scopes_missing'],
  ])('adds no sender when Meta reports the token as %j', async (state, name) => {
    const texts = [{ key: `preflight:${name}` }];
    simulator.business.changeToken(TOKEN, state);
    const listed = await operator.post<NumbersView>('/staff/senders/numbers', CONNECTION);
    expect(listed.body).toMatchObject({ numbers: [], step: { step: 'token', status: 'needs_you', texts } });
    const added = await operator.post<AddedView>('/staff/senders/setup', {
      ...CONNECTION,
      phoneNumberId: NUMBER_ID,
    });
    expect(added.body).toMatchObject({ id: null, step: { texts } });
    expect(JSON.stringify([listed, added])).not.toContain('leaked');
  });

  it('refuses a number that the business account does not have, and a number that was already added', async () => {
    const other = { ...CONNECTION, phoneNumberId: '400000000000009' };
    expect(await operator.post('/staff/senders/setup', other)).toMatchObject({
      status: 422,
      body: { errors: { phoneNumberId: 'unknown' } },
    });
    await add();
    expect(
      await operator.post('/staff/senders/setup', { ...CONNECTION, phoneNumberId: NUMBER_ID }),
    ).toMatchObject({ status: 422, body: { errors: { phoneNumberId: 'taken' } } });
  });

  it('reports an unknown business account at the number step', async () => {
    const { id } = await buildSender(server.db.database);
    expect(await plan(id)).toMatchObject({
      steps: [{ step: 'number', texts: [{ key: 'senderSetup:business_account_unknown' }] }],
    });
  });

  it('sends a test code, and reports whether Meta accepted it', async () => {
    const id = await add();
    const test = async (to: string) => operator.post<TestCodeView>(`/staff/senders/${id}/test`, { to });
    expect(await test('+55')).toMatchObject({ status: 422, body: { errors: { to: 'format' } } });
    expect((await test('+5511955550100')).body.step).toMatchObject({ step: 'test', status: 'failed' });
    const [entry] = await listAuditEntries(server.db.database, { limit: 1 });
    expect(entry).toMatchObject({ action: 'sender.test', subject: id, details: { state: 'failed' } });
    expect(JSON.stringify(entry)).not.toContain('55550100');
  });
});

describe('the setup of an account’s own sender', () => {
  it('is allowed only to its admins, who enter a business account that Meta confirms', async () => {
    const accountId = await buildAccount(server.db.database);
    const admin = await person(server, { accounts: { [accountId]: 'admin' } });
    const path = `/accounts/${accountId}/senders`;
    expect((await admin.post<NumbersView>(`${path}/numbers`, CONNECTION)).body.numbers).toHaveLength(1);
    const id = await add(admin, path);
    const { body } = await admin.post<SetupView>(`${path}/${id}/setup`, {
      pin: PIN,
      mayChangeTemplates: false,
    });
    expect(statusesOf(body)).toMatchObject({ registration: 'done', health: 'already' });
    const list = await admin.get<SendersView>(path);
    expect(list.body.senders).toMatchObject([{ id, accountId, businessAccountId: BUSINESS_ACCOUNT }]);

    const others = [
      await person(server, { accounts: { [accountId]: 'developer' } }),
      await person(server, { accounts: { [await buildAccount(server.db.database)]: 'admin' } }),
      await person(server, { staff: 'on_call' }),
    ];
    for (const other of others)
      for (const at of [path, '/staff/senders']) {
        const answers = [
          await other.post(`${at}/numbers`, CONNECTION),
          await other.post(`${at}/${id}/setup`, { pin: PIN, mayChangeTemplates: true }),
          await other.post(`${at}/${id}/test`, { to: NUMBER }),
        ];
        for (const { status } of answers) expect([403, 404]).toContain(status);
      }
    for (const [place, other] of others.entries()) {
      const statuses = [
        await other.get(`${path}/${id}/setup`),
        await other.get(`/staff/senders/${id}/setup`),
      ];
      const expected = [
        [403, 404],
        [404, 404],
        [404, 200],
      ][place];
      expect(statuses.map(({ status }) => status)).toEqual(expected);
    }
  });
});
