import {
  buildAccount,
  buildCaller,
  buildSend,
  describeInBrowser,
  TEST_ACTOR,
  useBrowser,
} from '@onecode/testing';
import type { Page } from 'playwright-core';
import { changeSettings, findAccount } from '@onecode/store/accounts';
import { readHeldSends } from '@onecode/store/reports';
import { useConsole } from '../console.js';
import { inWindow, PASSWORD, person, type TestPerson } from '../people.js';
import { letConfirmationPass, withTwoFactor } from '../secondFactor.js';
import { codeOf } from '../totp.js';

const server = useConsole();
const browser = useBrowser();

const asPerson = (who: TestPerson, use: (page: Page) => Promise<void>) => inWindow(browser, server, who, use);

async function holdAll(page: Page): Promise<void> {
  await page.goto('/staff/holds');
  await page.getByRole('button', { name: 'Hold all live delivery' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('a drill');
  await page.getByRole('dialog').getByRole('button', { name: 'Hold all live delivery' }).click();
}

describeInBrowser('a change that requires a fresh confirmation of identity', () => {
  it('asks for a code, keeps the input, and makes the change', async () => {
    const { who, uri, backupCodes } = await withTwoFactor(server, { staff: 'operator' });
    const account = await buildAccount(server.db.database, { name: 'Loja Azul', credits: 12 });
    await letConfirmationPass(server, who);
    await asPerson(who, async (page) => {
      await page.goto(`/staff/accounts/${account}`);
      await page.getByRole('button', { name: 'Grant credits' }).click();
      const grant = page.getByRole('dialog', { name: 'Grant credits' });
      await grant.getByLabel('Amount').fill('500');
      await grant.getByLabel('Reason').fill('invoice 42');
      await grant.getByRole('button', { name: 'Grant credits' }).click();

      const ask = page.getByRole('dialog', { name: 'Confirm your identity' });
      const code = ask.getByLabel('Code from your authenticator app');
      await code.fill('000000');
      await ask.getByRole('button', { name: 'Confirm' }).click();
      await ask.getByText('This code is incorrect or was already used').waitFor();
      expect(await code.inputValue()).toBe('');

      // Escape closes the upper dialog only; the input below it stays.
      await page.keyboard.press('Escape');
      await ask.waitFor({ state: 'hidden' });
      await grant.getByText('you did not confirm your identity').waitFor();
      expect(await grant.getByLabel('Amount').inputValue()).toBe('500');
      expect(await grant.getByLabel('Reason').inputValue()).toBe('invoice 42');
      expect(await findAccount(server.db.database, account)).toMatchObject({ credits: 12 });

      await grant.getByRole('button', { name: 'Grant credits' }).click();
      await code.fill(codeOf(uri));
      await page.keyboard.press('Enter');
      await ask.waitFor({ state: 'hidden' });
      await grant.waitFor({ state: 'hidden' });
      await page.getByRole('main').getByText('512', { exact: true }).waitFor();
    });

    await letConfirmationPass(server, who);
    await asPerson(who, async (page) => {
      await holdAll(page);
      const ask = page.getByRole('dialog', { name: 'Confirm your identity' });
      await ask.getByRole('button', { name: 'Use a backup code' }).click();
      await ask.getByLabel('Backup code').fill(String(backupCodes[0]));
      await ask.getByRole('button', { name: 'Confirm' }).click();
      await page.getByRole('heading', { name: 'All live delivery is on hold' }).waitFor();
      expect(await readHeldSends(server.db.database)).toMatchObject({
        holds: [{ kind: 'live', reason: 'a drill' }],
      });
      // No second confirmation within ten minutes.
      await page.getByRole('button', { name: 'Release' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('the drill is over');
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
      await page.getByRole('heading', { name: 'Live delivery is running' }).waitFor();
    });
  });

  it('asks for the password without two-factor authentication', async () => {
    const operator = await person(server, { staff: 'operator' });
    await letConfirmationPass(server, operator);
    await asPerson(operator, async (page) => {
      await holdAll(page);
      const ask = page.getByRole('dialog', { name: 'Confirm your identity' });
      await ask.getByLabel('Your password').fill('not the password');
      await ask.getByRole('button', { name: 'Confirm' }).click();
      await ask.getByText('This password is incorrect.').waitFor();
      await ask.getByLabel('Your password').fill(PASSWORD);
      await ask.getByRole('button', { name: 'Confirm' }).click();
      await page.getByRole('heading', { name: 'All live delivery is on hold' }).waitFor();
    });
    await server.db.sql('delete from holds');
  });
});

describeInBrowser('two-factor authentication required for staff', () => {
  it('can be required by an operator who has it, and is linked on every page for an operator without it', async () => {
    const { who } = await withTwoFactor(server, { staff: 'operator' });
    const without = await person(server, { staff: 'operator' });
    await asPerson(without, async (page) => {
      await page.goto('/staff/settings');
      await page.getByText('Turn on your own two-factor authentication first').waitFor();
      expect(await page.getByRole('button', { name: 'Require' }).isDisabled()).toBe(true);
    });
    await asPerson(who, async (page) => {
      await page.goto('/staff/settings');
      await page.getByRole('button', { name: 'Require' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('a test');
      await page.getByRole('dialog').getByRole('button', { name: 'Require' }).click();
      await page.getByText('Required: staff without it cannot open').waitFor();
      await page
        .getByRole('row', { name: /two-factor authentication for staff.*optional → required/ })
        .waitFor();
      await page.goto('/profile');
      await page.getByText('It is required for all staff').waitFor();
      expect(await page.getByRole('button', { name: 'Turn off' }).count()).toBe(0);
    });
    await asPerson(without, async (page) => {
      for (const path of ['/', '/staff/accounts', '/board']) {
        await page.goto(path);
        await page.getByRole('heading', { name: 'Turn on two-factor authentication to continue' }).waitFor();
      }
      await page.getByRole('link', { name: 'Turn it on' }).click();
      await page.getByRole('button', { name: 'Turn on' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Your password').fill(PASSWORD);
      await dialog.getByRole('button', { name: 'Continue' }).click();
      const secret = await dialog.getByRole('group', { name: 'secret' }).innerText();
      await dialog.getByLabel('Six-digit code').fill(codeOf(`otpauth://totp/x?secret=${secret.trim()}`));
      await dialog.getByRole('button', { name: 'Turn on' }).click();
      await dialog.getByRole('button', { name: 'I have saved the codes' }).click();
      await page.getByRole('navigation').getByRole('link', { name: 'Accounts' }).click();
      await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
    });
    await changeSettings(server.db.database, TEST_ACTOR, { staffTwoFactor: 'optional' });
  });
});

describeInBrowser('blocked recipients', () => {
  it('can be reset by an admin of the account, and only viewed by a viewer', async () => {
    const account = await buildAccount(server.db.database, { name: 'Loja Azul' });
    const caller = await buildCaller(server.db.database, 'live', { id: account });
    await server.db.sql(
      `insert into guess_budgets (account_id, recipient_key, points, last_wrong_at)
       select account_id, recipient_key, 100, clock_timestamp() from sends where id = $1`,
      [await buildSend(server.db.database, caller, { recipient: '+5511987654321' })],
    );
    await asPerson(await person(server, { accounts: { [account]: 'viewer' } }), async (page) => {
      await page.goto(`/accounts/${account}/recipients`);
      await page.getByRole('row', { name: /4321.*100/ }).waitFor();
      expect(await page.getByRole('button', { name: /^Reset/ }).count()).toBe(0);
    });
    await asPerson(await person(server, { accounts: { [account]: 'admin' } }), async (page) => {
      await page.goto(`/accounts/${account}/overview`);
      await page.getByRole('navigation').getByRole('link', { name: 'Blocked recipients' }).click();
      await page.getByRole('button', { name: 'Reset +55 ••••• 4321' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
      await page.getByText('No blocked recipients').waitFor();
    });
  });
});
