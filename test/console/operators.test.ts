import { ConsoleEnvironment, describeInBrowser, STACK_START_MS_MAX } from '@onecode/testing';

const JOURNEY_MS_MAX = 90_000;

describeInBrowser('an operator', () => {
  let environment: ConsoleEnvironment;
  beforeAll(async () => {
    environment = await ConsoleEnvironment.open();
    await environment.stack.addSender();
  }, STACK_START_MS_MAX);
  afterAll(() => environment.close());

  const accountWithKey = async (name: string, credits: number): Promise<{ id: string; key: string }> => {
    const account = await environment.stack.onecode(
      `account create --name ${name} --free-quota 0 --credits ${credits}`,
    );
    return { id: String(account['id']), key: await environment.stack.makeKey(String(account['id']), 'live') };
  };

  it(
    'grants credits, which turn a 402 into a 202',
    async () => {
      const { stack } = environment;
      const { key } = await accountWithKey('Penniless', 0);
      const ask = () =>
        stack.request('POST', '/v1/send', {
          key,
          body: { to: '+5511987650002' },
          headers: { 'idempotency-key': 'sign-in-1' },
        });
      expect((await ask()).status).toBe(402);

      const page = await environment.windowOf(await environment.createUser('--staff operator'));
      await page.getByRole('link', { name: 'Accounts', exact: true }).click();
      await page.getByLabel('Name or account ID').fill('Penni');
      await page.getByRole('link', { name: 'Penniless' }).click();
      await page.getByRole('button', { name: 'Grant credits' }).click();
      const dialog = page.getByRole('dialog', { name: 'Grant credits' });
      await dialog.getByLabel('Amount').fill('3');
      await dialog.getByLabel('Reason').fill('paid invoice 7');
      await dialog.getByText('Credits: 0 → 3').waitFor();
      await dialog.getByRole('button', { name: 'Grant credits' }).click();
      await dialog.waitFor({ state: 'hidden' });

      expect((await ask()).status).toBe(202);
      await page.getByRole('link', { name: 'Audit log', exact: true }).click();
      await page.getByRole('row', { name: /paid invoice 7/ }).waitFor();
    },
    JOURNEY_MS_MAX,
  );

  it(
    'pauses a sender, whose sends wait, and resumes it, and they go out',
    async () => {
      const { stack } = environment;
      const { key } = await accountWithKey('Waiting', 10);
      const page = await environment.windowOf(await environment.createUser('--staff operator'));
      await page.getByRole('link', { name: 'Senders', exact: true }).click();
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('quality went down');
      await dialog.getByRole('button', { name: /^Pause/ }).click();
      await dialog.waitFor({ state: 'hidden' });
      await page.getByText('quality went down').first().waitFor();

      const { id } = await stack.create(key, { to: '+5511987650003' });
      await stack.untilWaiting(id);
      expect((await stack.status(key, id)).status).toBe('queued');

      await page.getByRole('button', { name: 'Resume', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
      expect(await stack.untilStatus(key, id, 'delivered')).toMatchObject({ from: '+15550783881' });
    },
    JOURNEY_MS_MAX,
  );

  it(
    'holds all live delivery, which every staff page shows, and releases it',
    async () => {
      const { stack } = environment;
      const { key } = await accountWithKey('Held', 10);
      const page = await environment.windowOf(await environment.createUser('--staff operator'));
      await page.getByRole('link', { name: 'Holds', exact: true }).click();
      await page.getByRole('button', { name: 'Hold all live delivery' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('a wrong template');
      await dialog.getByRole('button', { name: 'Hold all live delivery' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await page.getByText('All live delivery is on hold').first().waitFor();
      await page.getByRole('link', { name: 'Accounts', exact: true }).click();
      await page.getByText(/All live delivery has been on hold since/).waitFor();

      const { id } = await stack.create(key, { to: '+5511987650004' });
      await stack.untilWaiting(id);
      expect((await stack.status(key, id)).status).toBe('queued');

      await page.getByRole('link', { name: 'Holds', exact: true }).click();
      await page.getByRole('button', { name: 'Release' }).first().click();
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
      await stack.untilStatus(key, id, 'delivered');
    },
    JOURNEY_MS_MAX,
  );
});
