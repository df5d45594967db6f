import { startSimulator, type Simulator } from '@onecode/simulator';
import { describeInBrowser, useBrowser } from '@onecode/testing';
import type { AddedView } from '../../src/features/senders/view.js';
import { startConsole, type StartedConsole } from '../console.js';
import { inWindow, person } from '../people.js';

const BUSINESS_ACCOUNT = '300000000000001';
const NUMBER_ID = '400000000000001';
const TOKEN = 'EAAG-leaked-token-0123456789';
const PIN = '111111';

const browser = useBrowser();
let simulator: Simulator;
let server: StartedConsole;
beforeAll(async () => {
  simulator = await startSimulator({ appSecret: 'secret-of-the-simulator-0123456789' });
  server = await startConsole({ WHATSAPP_API_URL: simulator.apiUrl });
});
beforeEach(async () => {
  await server.db.sql('delete from senders');
  simulator.reset();
  simulator.changeSettings({ reviewMs: 0 });
  await simulator.business.changeAccount(BUSINESS_ACCOUNT, { startsEmpty: true, subscribed: false });
  await simulator.business.changeSender(NUMBER_ID, {
    wabaId: BUSINESS_ACCOUNT,
    displayPhoneNumber: '5511987654321',
    status: 'PENDING',
    registered: false,
    verifiedName: 'Loja Azul',
    pin: PIN,
  });
});
afterAll(async () => {
  await server.close();
  await simulator.close();
});

describeInBrowser('the setup of a sender', () => {
  it('lets an operator connect, choose a number, mistype the PIN, reload and continue', async () => {
    await inWindow(browser, server, await person(server, { staff: 'operator' }), async (page) => {
      await page.goto('/staff/senders');
      await page.getByRole('link', { name: 'Add sender' }).click();
      await page.getByLabel('Business account ID').fill(BUSINESS_ACCOUNT);
      await page.getByRole('textbox', { name: 'Access token' }).fill(TOKEN);
      simulator.business.changeToken(TOKEN, { valid: false });
      await page.getByRole('button', { name: 'Find numbers' }).click();
      await page.getByText('Meta does not accept the access token.').waitFor();
      simulator.business.changeToken(TOKEN, { valid: true });
      await page.getByRole('button', { name: 'Find numbers' }).click();
      await page.getByRole('radio', { name: '+5511987654321 · Loja Azul' }).check();
      await page.getByRole('button', { name: 'Add and continue' }).click();

      const setup = page.getByRole('region', { name: 'Setup' });
      const step = (name: string) => setup.getByRole('listitem').filter({ hasText: name });
      const next = () => setup.getByRole('button', { name: 'Continue setup' }).click();
      await step('Template in English').getByText('Would create').waitFor();
      await next();
      await setup.getByText('Enter six digits.').waitFor();
      await setup.getByLabel('Two-step PIN').fill('222222');
      await next();
      await step('Registration').getByText('The two-step PIN of the sender’s number is wrong.').waitFor();
      await step('Template in English').getByText('is approved').waitFor();

      await page.reload();
      await step('Registration').getByText('The PIN is missing').waitFor();
      await setup.getByLabel('Two-step PIN').fill(PIN);
      await next();
      await setup.getByText('The number is set up at Meta.').waitFor();
      expect(await step('').getByLabel('Action needed').count()).toBe(0);
      expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toMatch(/EAAG|1{6}/);

      await setup.getByRole('button', { name: 'Send a test code' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send a test code' });
      await dialog.getByLabel('Phone number').fill('+5511955550100');
      simulator.business.changeToken(TOKEN, { valid: false });
      await dialog.getByRole('button', { name: 'Send test code' }).click();
      await dialog.getByRole('status').getByText('Meta did not accept the test message').waitFor();
    });
    expect(simulator.business.sender(NUMBER_ID)).toMatchObject({ registered: true });
  });

  it('quotes Meta about a refused step, in Portuguese too', async () => {
    const operator = await person(server, { staff: 'operator' });
    const connection = { businessAccountId: BUSINESS_ACCOUNT, token: TOKEN, template: 'verification_code' };
    const added = await operator.post<AddedView>('/staff/senders/setup', {
      ...connection,
      phoneNumberId: NUMBER_ID,
    });
    await server.db.sql("update users set language = 'pt-BR' where id = $1", [operator.id]);
    await inWindow(browser, server, operator, async (page) => {
      await page.goto(`/staff/senders/${added.body.id}`);
      await page.getByLabel('PIN de duas etapas').fill('222222');
      await page.getByRole('button', { name: 'Continuar configuração' }).click();
      const setup = page.getByRole('region', { name: 'Configuração' });
      const registration = setup.getByRole('listitem').filter({ hasText: 'Registro na Meta' });
      await registration.getByText('O PIN de duas etapas do número do remetente está errado.').waitFor();
      await registration.getByText('Mensagem da Meta: “(#133005) Two-step').waitFor();
    });
  });
});
