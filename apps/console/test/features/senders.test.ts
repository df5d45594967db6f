import { decrypt, type SenderReading } from '@onecode/domain';
import { changeAccount } from '@onecode/store/accounts';
import { listAuditEntries } from '@onecode/store/operations';
import { applyProviderReport, applySenderReading, findOwnApp } from '@onecode/store/senders';
import {
  blockSender,
  buildAccount,
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  TEST_SECRET_KEY,
} from '@onecode/testing';
import { startSimulator, type Simulator } from '@onecode/simulator';
import type {
  AddedView,
  NumbersView,
  OwnAppView,
  SendersView,
  SenderView,
  SetupView,
  TestCodeView,
} from '../../src/features/senders/view.js';
import { startConsole, useConsole, type StartedConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

describe('senders', () => {
  const server = useConsole();
  let operator: TestPerson;
  let onCall: TestPerson;
  beforeAll(async () => {
    operator = await person(server, { staff: 'operator' });
    onCall = await person(server, { staff: 'on_call' });
  });

  const TOKEN = 'EAAG-leaked-token-0123456789';
  const NEW = {
    phoneNumberId: '106540352249999',
    number: '\u202a+1\u00a0555\u2011078\u20119999\u202c',
    token: TOKEN,
    template: 'verification_code',
    englishTemplateLanguage: 'en_US',
    throughput: 80,
  };

  const USABLE = { status: 'APPROVED', category: 'AUTHENTICATION', hasCodeButton: true };
  /** What Meta reports about a sender that may send. */
  const READING: SenderReading = {
    businessAccountId: '78',
    portfolioId: null,
    number: {
      status: 'CONNECTED',
      token: {
        isValid: true,
        scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
        expiresAt: 0,
      },
    },
    businessAccount: { isSubscribed: false },
    templates: [{ language: 'pt_BR', values: USABLE }],
    failures: {},
  };

  const senderOf = async (id: string): Promise<SenderView> => {
    const { body } = await onCall.get<SendersView>('/staff/senders');
    return body.senders.find((sender) => sender.id === id)!;
  };
  /** Makes a sender look as if it had been activated. */
  const endPauses = (id: string) => server.db.sql('delete from sender_blocks where subject = $1', [id]);
  const latest = async () => (await listAuditEntries(server.db.database, { limit: 1 }))[0];
  const tokenOf = async (id: string): Promise<string> => {
    const [row] = await server.db.sql<{ encrypted_token: Buffer }>(
      'select encrypted_token from senders where id = $1',
      [id],
    );
    return decrypt(TEST_SECRET_KEY, id, row!.encrypted_token);
  };

  describe('senders', () => {
    it('are added, edited and given another token, which no response and no audit entry contains', async () => {
      const added = await operator.post<{ id: string }>('/staff/senders', NEW);
      expect(added.status).toBe(200);
      const { id } = added.body;
      expect(await senderOf(id)).toMatchObject({
        number: '+15550789999',
        englishTemplateLanguage: 'en_US',
        state: 'paused',
        isNew: true,
      });
      expect(await tokenOf(id)).toBe(TOKEN);

      await operator.put(`/staff/senders/${id}`, { token: `${TOKEN}-2`, throughput: 500 });
      expect(await tokenOf(id)).toBe(`${TOKEN}-2`);
      // The other fields do not change.
      expect(await senderOf(id)).toMatchObject({ throughput: 500, template: NEW.template });

      const answers = [added, await onCall.get('/staff/senders'), await onCall.get('/staff/audit')];
      expect(JSON.stringify(answers)).not.toContain('leaked');
      const log = await listAuditEntries(server.db.database, { actionPrefix: 'sender.', limit: 9 });
      expect(log.map(({ action, subject }) => [action, subject])).toEqual([
        ['sender.edit', id],
        ['sender.add', id],
      ]);
      expect(JSON.stringify(log)).not.toContain('leaked');
    });

    it('send nothing until their checks pass and they are activated', async () => {
      const phoneNumberId = '106540352248888';
      const { id } = (await operator.post<{ id: string }>('/staff/senders', { ...NEW, phoneNumberId })).body;
      const activate = () => operator.post(`/staff/senders/${id}/resume`, { reason: 'it is ready' });
      expect(await activate()).toMatchObject({ status: 409, body: { code: 'sender_not_ready' } });
      expect(await senderOf(id)).toMatchObject({ state: 'paused', isNew: true });

      const { since } = (await operator.post<{ since: string }>(`/staff/senders/${id}/check`)).body;
      const sender = { id, phoneNumberId, template: NEW.template };
      await applySenderReading(server.db.database, sender, READING, new Date(since));
      expect((await senderOf(id)).provider).toMatchObject({ maySend: true, triedAt: since });
      expect((await activate()).status).toBe(204);
      expect(await senderOf(id)).toMatchObject({ state: 'active', isNew: false });
    });

    it('can be added once, and again after they were removed', async () => {
      const { id, phoneNumberId } = await buildSender(server.db.database);
      expect(await operator.post('/staff/senders', { ...NEW, phoneNumberId })).toMatchObject({
        status: 422,
        body: { errors: { phoneNumberId: 'taken' } },
      });
      expect((await operator.delete(`/staff/senders/${id}`)).status).toBe(204);
      expect(await senderOf(id)).toBeUndefined();
      expect((await operator.post('/staff/senders', { ...NEW, phoneNumberId })).status).toBe(200);
    });

    it('report the outcomes of their last hour, each error with its meaning and advice', async () => {
      const { id } = await buildSender(server.db.database);
      const caller = await buildCaller(server.db.database, 'live', { credits: 9 });
      const send = await buildSend(server.db.database, caller);
      await server.db.sql(
        `insert into attempts (send_id, number, sender_id, outcome, error_code, started_at, finished_at)
       values ($1, 1, $2, 'config', 132001, now(), now())`,
        [send, id],
      );
      await blockSender(server.db.database, { id }, { onlyFor: 'IN', errorCode: 130497 });
      const explanation = { name: '132001', remedy: expect.stringContaining('Have the template approved') };
      expect(await senderOf(id)).toMatchObject({
        state: 'active',
        outcomes: { config: 1 },
        blocks: [{ scope: 'sender', onlyFor: 'IN', errorCode: 130497, source: 'answer', failures: 1 }],
        errors: [{ outcome: 'config', errorCode: 132001, times: 1, explanation }],
      });
    });

    it('show how many of their messages never arrived, in the last day and in the week before', async () => {
      const { id } = await buildSender(server.db.database);
      const { id: unused } = await buildSender(server.db.database);
      await server.db.sql(
        `insert into delivery_hours (hour, country, sender_id, accepted, undelivered)
       select date_bin('1 hour', now(), 'epoch') - make_interval(hours => hours), country, $1, accepted, undelivered
       from (values (1, 'BR', 40, 4), (2, 'BR', 30, 1), (2, 'AR', 20, 0), (30, 'BR', 500, 3)) v (hours, country, accepted, undelivered)`,
        [id],
      );
      expect((await senderOf(id)).deliveries).toEqual({
        lastDay: { accepted: 90, undelivered: 5 },
        weekBefore: { accepted: 500, undelivered: 3 },
      });
      expect((await senderOf(unused)).deliveries).toBeNull();
    });

    it('show how many of their messages Meta held in the last 24 hours', async () => {
      const { id } = await buildSender(server.db.database);
      const { id: other } = await buildSender(server.db.database);
      const caller = await buildCaller(server.db.database, 'live', { credits: 9 });
      const send = await buildSend(server.db.database, caller);
      await server.db.sql(
        `insert into attempts (send_id, number, sender_id, outcome, message_status, started_at, finished_at)
       select $1, hours, $2, 'accepted', 'paused', now() - make_interval(hours => hours), now() - make_interval(hours => hours)
       from unnest(array[1, 23, 25]) hours`,
        [send, id],
      );
      expect(await senderOf(id)).toMatchObject({ held24h: 2, deliveries: null });
      expect(await senderOf(other)).toMatchObject({ held24h: 0 });
    });

    it('are active again after a cool-down, although the fault is not cleared', async () => {
      const { id } = await buildSender(server.db.database);
      await blockSender(server.db.database, { id }, { errorCode: 190, isConfiguration: true });
      expect(await senderOf(id)).toMatchObject({ state: 'cooling_down', blocks: [{ isBlocking: true }] });
      await server.db.sql(
        `update sender_blocks set since = since - interval '1 day', until = until - interval '1 day' where subject = $1`,
        [id],
      );
      expect(await senderOf(id)).toMatchObject({ state: 'active', blocks: [{ isBlocking: false }] });
    });

    it.each([
      [1_599, 'messaging_limit', 401],
      [1_600, 'limit_near', 400],
      [2_000, 'limit_reached', 0],
    ])('with %s of 2,000 recipients in 24 hours have the check %s', async (used, name, left) => {
      const sender = await buildSender(server.db.database);
      const number = { messagingLimit: 'TIER_2K' };
      await applySenderReading(server.db.database, sender, { ...READING, number }, new Date());
      await server.db.sql('update senders set recipients_24h = $1 where id = $2', [used, sender.id]);
      const { provider } = await senderOf(sender.id);
      expect(provider).toMatchObject({ recipients24h: used, recipientsMax: 2_000, recipientsLeft: left });
      expect(provider.checks.find(({ check }) => check === 'messaging_limit')).toMatchObject({ name });
    });

    it('show alerts about prices with the console’s own text', async () => {
      const sender = await buildSender(server.db.database, { businessAccountId: '79' });
      const report = (type: string, at: number) =>
        applyProviderReport(
          server.db.database,
          '79',
          { alert: { type, severity: null, detail: 'tier: 1, region: BR' } },
          new Date(at),
        );
      await report('PARTNER_ADDED', 1_000);
      await report('VOLUME_BASED_PRICING_TIER_UPDATE', 2_000);
      const { provider } = await senderOf(sender.id);
      expect(provider.facts).toMatchObject([
        { name: 'alert', sentence: 'VOLUME_BASED_PRICING_TIER_UPDATE', value: 'tier: 1, region: BR' },
        { name: 'alert', sentence: null, value: 'PARTNER_ADDED: tier: 1, region: BR' },
      ]);
    });

    it('show Meta’s reports, the blocks from them, and the remedies', async () => {
      const sender = await buildSender(server.db.database, { businessAccountId: '77' });
      const startedAt = new Date();
      const paused = { status: 'PAUSED', category: 'AUTHENTICATION', reason: 'FIRST_PAUSE' };
      const reading: SenderReading = {
        ...READING,
        businessAccountId: '77',
        number: { quality: 'YELLOW', status: 'CONNECTED', messagingLimit: 'TIER_2K' },
        businessAccount: { ...READING.businessAccount, verification: 'UNVERIFIED' },
        templates: [
          { language: 'en', values: paused },
          { language: 'pt_BR', values: USABLE },
        ],
        failures: { token: 'Meta refused the read (error 190, HTTP 401).' },
      };
      await operator.post(`/staff/senders/${sender.id}/check`);
      await applySenderReading(server.db.database, sender, reading, startedAt);

      const { provider, state, blocks } = await senderOf(sender.id);
      expect(state).toBe('active');
      expect(provider).toMatchObject({ readAt: startedAt.toISOString(), recipientsLeft: 2_000 });
      expect(provider.facts.map(({ name, value }) => [name, value])).toEqual([
        ['quality', 'YELLOW'],
        ['status', 'CONNECTED'],
        ['messagingLimit', 'TIER_2K'],
        ['verification', 'UNVERIFIED'],
      ]);
      expect(provider.templates).toMatchObject([
        { language: 'en', status: 'PAUSED', reason: 'FIRST_PAUSE', isUsable: false },
        { language: 'pt_BR', status: 'APPROVED', isUsable: true },
      ]);
      expect(blocks).toMatchObject([
        { onlyFor: 'en', source: 'provider', reason: expect.stringContaining('PAUSED'), until: null },
      ]);
      const bad = provider.checks.filter(({ ok }) => !ok);
      expect(bad.map(({ check }) => check)).toEqual(
        expect.arrayContaining(['token_valid', 'template_en', 'business_verified']),
      );
      expect(JSON.stringify(bad)).toContain('error 190');
    });

    it.each([
      ['number', '+5511', 'format'],
      ['phoneNumberId', 'x1', 'pattern'],
      ['token', `"${TOKEN}"`, 'pattern'],
      ['template', 'Mine!', 'pattern'],
      ['throughput', 1_001, 'maximum'],
    ])('are not added with the %s %j', async (field, value, fault) => {
      const answer = await operator.post('/staff/senders', { ...NEW, [field]: value });
      expect(answer).toMatchObject({
        status: 422,
        body: { code: 'invalid_input', errors: { [field]: fault } },
      });
      expect(JSON.stringify(answer.body)).not.toContain('leaked');
    });
  });

  describe('an account’s own senders', () => {
    it('are added, checked, blocked and removed by its admins, who see neither a token nor the reason of a block by staff', async () => {
      const accountId = await buildAccount(server.db.database);
      await changeAccount(server.db.database, TEST_ACTOR, accountId, { senders: 'own' });
      const admin = await person(server, { accounts: { [accountId]: 'admin' } });
      const path = `/accounts/${accountId}/senders`;
      const list = async () => (await admin.get<SendersView>(path)).body;
      await buildSender(server.db.database);
      expect(await list()).toMatchObject({ senders: [], policy: 'own' });

      const wanted = { ...NEW, phoneNumberId: '106540352247777' };
      // The account could then choose the business account with the blocks that it starts and ends.
      const claimed = await admin.post(path, { ...wanted, businessAccountId: '102290129340398' });
      expect(claimed).toMatchObject({ status: 422, body: { code: 'invalid_input' } });
      const added = await admin.post<{ id: string }>(path, wanted);
      const { id } = added.body;
      expect(await tokenOf(id)).toBe(TOKEN);
      const own = { id, accountId, applicationIds: [], isNew: true, state: 'paused' };
      expect(await list()).toMatchObject({ senders: [own] });
      expect(await senderOf(id)).toMatchObject(own);
      expect((await admin.post(`${path}/${id}/check`)).status).toBe(200);
      await admin.put(`${path}/${id}`, { token: `${TOKEN}-2` });
      expect(await tokenOf(id)).toBe(`${TOKEN}-2`);
      expect(await latest()).toMatchObject({
        action: 'sender.edit',
        details: { tokenReplaced: true },
        accountId,
        actor: { id: admin.id },
      });

      await endPauses(id);
      await onCall.post(`/staff/senders/${id}/pause`, { reason: 'a secret of the staff' });
      const answers = JSON.stringify([added, await list(), await admin.get(`/accounts/${accountId}/audit`)]);
      expect(answers).toContain('paused by an operator');
      expect(answers).not.toMatch(/leaked|secret of/);
      expect((await admin.post(`${path}/${id}/resume`, { reason: 'over' })).status).toBe(204);
      expect((await admin.call('DELETE', `${path}/${id}`)).status).toBe(204);
      expect((await list()).senders).toEqual([]);
      // At most twenty.
      for (let n = 0; n < 20; n++)
        await buildSender(server.db.database, { owner: { accountId, applicationIds: [] } });
      expect(await admin.post(path, wanted)).toMatchObject({ body: { errors: { phoneNumberId: 'full' } } });
    });

    it('receive webhooks of their business’s own Meta app at a separate address after its secret is set', async () => {
      const accountId = await buildAccount(server.db.database);
      const admin = await person(server, { accounts: { [accountId]: 'admin' } });
      const { id } = await buildSender(server.db.database, { owner: { accountId, applicationIds: [] } });
      const path = `/accounts/${accountId}/senders`;
      const appSecret = 'abcdef0123456789abcdef0123456789';
      expect((await admin.put(`${path}/${id}/app`, { appSecret: 'planted' })).status).toBe(422);
      const { body } = await admin.put<OwnAppView>(`${path}/${id}/app`, { appSecret });
      expect(body).toEqual({
        url: `https://api.example.test/webhooks/whatsapp/${id}`,
        verifyToken: expect.stringMatching(/^[\w-]{43}$/),
      });
      const kept = await findOwnApp(server.db.database, TEST_SECRET_KEY, id);
      expect(kept).toEqual({ accountId, secret: appSecret });
      const list = await admin.get<SendersView>(path);
      expect(list.body.senders).toMatchObject([{ id, hasOwnApp: true }]);
      expect(`${list.body.webhookUrl}/${id}`).toBe(body.url);
      expect(JSON.stringify([list, await admin.get(`/accounts/${accountId}/audit`)])).not.toContain(
        appSecret,
      );
      expect((await admin.call('DELETE', `${path}/${id}/app`)).status).toBe(204);
      expect((await admin.get<SendersView>(path)).body.senders).toMatchObject([{ id, hasOwnApp: false }]);
    });

    it('are assigned by operators, and an account sees which senders it uses', async () => {
      const { accountId, applicationId } = await buildCaller(server.db.database, 'live');
      const other = await buildCaller(server.db.database, 'live');
      const { id } = await buildSender(server.db.database);
      const assign = (owner: object) => operator.put(`/staff/senders/${id}/owner`, owner);
      expect((await assign({ accountId, applicationIds: [applicationId] })).status).toBe(204);
      expect(await senderOf(id)).toMatchObject({ accountId, applicationIds: [applicationId] });
      for (const [owner, field] of [
        [{ accountId, applicationIds: [other.applicationId] }, 'applicationIds'],
        [{ accountId: id, applicationIds: [] }, 'accountId'],
      ] as const)
        expect(await assign(owner)).toMatchObject({ status: 422, body: { errors: { [field]: 'unknown' } } });
      expect((await assign({ accountId: null, applicationIds: [] })).status).toBe(204);
      expect(await senderOf(id)).toMatchObject({ accountId: null, applicationIds: [] });

      const policy = `/staff/accounts/${accountId}/senders`;
      expect((await operator.put(policy, { senders: 'mine' })).status).toBe(422);
      expect((await operator.put(policy, { senders: 'own' })).status).toBe(204);
      expect((await operator.get(`/staff/accounts/${accountId}`)).body).toMatchObject({ senders: 'own' });
    });
  });
});

describe('the setup of senders', () => {
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
});
