import { decrypt } from '@onecode/domain';
import { noteMailSender } from '@onecode/store/mails';
import { buildAccount, describeInBrowser, TEST_SECRET_KEY, useBrowser } from '@onecode/testing';
import type { Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { PASSWORD, person, windowOf } from '../people.js';
import { codeOf } from '../totp.js';

const server = useConsole();
const browser = useBrowser();

/** A page without a session. */
async function freshPage(): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', baseURL: server.url });
  return context.newPage();
}
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();
const fill = (page: Page, label: string, text: string): Promise<void> =>
  page.getByRole('textbox', { name: label, exact: true }).fill(text);

describeInBrowser('the pages of sign-in, sign-up and invitation', () => {
  it('lead from sign-up to an account, and show each error next to its field', async () => {
    const page = await freshPage();
    await page.goto('/sign-up');
    await page.getByText('Includes 10 free sends').waitFor();
    await fill(page, 'Your name', 'Ana Souza');
    await fill(page, 'Email', 'ana@example.com');
    await fill(page, 'Password', 'password1234');
    await press(page, 'Create account');
    await page.getByText('Too easy to guess').waitFor();
    expect(await page.getByRole('textbox', { name: 'Your name' }).inputValue()).toBe('Ana Souza');

    await fill(page, 'Password', PASSWORD);
    await fill(page, 'Company or project', 'Loja Azul');
    // The countries of the browser and of the service are preselected; a third is added.
    await page.getByRole('combobox', { name: 'Countries you send to' }).fill('Portu');
    await page.getByRole('option', { name: 'Portugal (PT)' }).click();
    await page.keyboard.press('Escape');
    await press(page, 'Create account');
    await page.waitForURL(/\/accounts\/[0-9a-f-]{36}\/start$/);
    const contact = page.getByRole('link', { name: /^Ask for credits/ });
    expect(await contact.getAttribute('href')).toBe('mailto:codes@example.test');
    // The bare URL redirects there too.
    await page.goto('/');
    await page.waitForURL(/\/overview$/);
    const made = "select language, free_quota, trial_countries from accounts where name = 'Loja Azul'";
    expect(await server.db.sql(made)).toEqual([
      { language: 'en', free_quota: 10, trial_countries: ['BR', 'PT', 'US'] },
    ]);
    await page.getByText('Live sends can only go to Brazil, Portugal, and United States').waitFor();
    await page.context().close();
  });

  it('lead a sign-up that a mail confirms to its first key, and to another key after a reload', async () => {
    const email = 'lia@example.com';
    await noteMailSender(server.db.database, 'codes@onecode.example');
    const page = await freshPage();
    page.setDefaultTimeout(20_000);
    await page.goto('/sign-up');
    await fill(page, 'Your name', 'Lia Reis');
    await fill(page, 'Email', 'lai@example.com');
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Create account');
    await press(page, 'Wrong address?');
    await fill(page, 'Email', email);
    await press(page, 'Create account');
    await page.getByText(`confirm ${email} arrives`).waitFor();
    await press(page, 'Send again');
    await page.getByText('Sent again').waitFor();
    await page.goto('/sign-in');
    await fill(page, 'Email', email);
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Sign in');
    await page.getByText('Your address is not confirmed yet').waitFor();

    const mails = await server.db.sql<{ id: string; encrypted_link: Uint8Array }>(
      'select id, encrypted_link from outbox where recipient = $1 order by created_at desc',
      [email],
    );
    expect(mails).toHaveLength(2);
    await page.goto(decrypt(TEST_SECRET_KEY, mails[0]!.id, mails[0]!.encrypted_link));
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Confirm and sign in');
    await heading(page, 'Name your account').waitFor();
    await press(page, 'Create account');
    await heading(page, 'Get started').waitFor();
    await page
      .getByText(/^ak_test_/)
      .first()
      .waitFor();
    expect(page.url()).toMatch(/\/start$/);
    await page.reload();
    await press(page, 'Create another key');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^ak_test_/)
      .first()
      .waitFor();
    await noteMailSender(server.db.database, null);
    await page.context().close();
  });

  it('show the sign-in page when the session has ended in an open tab', async () => {
    const account = await buildAccount(server.db.database);
    const who = await person(server, { accounts: { [account]: 'admin' } });
    const { page, context } = await windowOf(browser, server, who);
    await page.goto(`/accounts/${account}/overview`);
    await heading(page, 'Overview').waitFor();
    await page.waitForLoadState('networkidle');
    await server.db.sql('delete from user_sessions where user_id = $1', [who.id]);
    await page.getByRole('navigation').getByRole('link', { name: 'Team' }).click();
    await heading(page, 'Sign in').waitFor();
    await context.close();
  });

  it('show why the sends cannot be listed when the applications cannot be read', async () => {
    const account = await buildAccount(server.db.database);
    const who = await person(server, { accounts: { [account]: 'admin' } });
    const { page, context } = await windowOf(browser, server, who);
    await page.route('**/api/accounts/*/applications', (route) =>
      route.fulfill({ status: 403, json: { code: 'forbidden' } }),
    );
    await page.goto(`/accounts/${account}/sends`);
    await page.getByRole('main').getByRole('alert').waitFor();
    expect(await page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
    await context.close();
  });

  it('return a user to the requested page after sign-in', async () => {
    const account = await buildAccount(server.db.database);
    const { email } = await person(server, { accounts: { [account]: 'viewer' } });
    const page = await freshPage();
    await page.goto(`/accounts/${account}/team`);
    await heading(page, 'Sign in').waitFor();
    await fill(page, 'Email', email);
    await fill(page, 'Password', 'not the password');
    await press(page, 'Sign in');
    await page.getByText('Email or password is wrong').waitFor();
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Sign in');
    await heading(page, 'Team').waitFor();
    expect(await page.getByRole('button', { name: 'Invite member' }).count()).toBe(0);
    await page.context().close();
  });

  it('return a user to the link that confirms a new address', async () => {
    const who = await person(server);
    await noteMailSender(server.db.database, 'codes@onecode.example');
    await who.post('/auth/change-address', { email: 'fresh@example.com' });
    const [mail] = await server.db.sql<{ id: string; encrypted_link: Uint8Array }>(
      'select id, encrypted_link from outbox where recipient = $1',
      ['fresh@example.com'],
    );
    await noteMailSender(server.db.database, null);
    const page = await freshPage();
    await page.goto(decrypt(TEST_SECRET_KEY, mail!.id, mail!.encrypted_link));
    await press(page, 'Confirm the address');
    await heading(page, 'Sign in').waitFor();
    await fill(page, 'Email', who.email);
    await fill(page, 'Password', PASSWORD);
    await press(page, 'Sign in');
    await press(page, 'Confirm the address');
    await page.getByText('Your address was changed').waitFor();
    expect(await server.db.sql('select email from users where id = $1', [who.id])).toEqual([
      { email: 'fresh@example.com' },
    ]);
    await page.context().close();
  });

  it('let a second person join with the link of an invitation', async () => {
    const account = await buildAccount(server.db.database, { name: 'Loja Verde' });
    const admin = await person(server, { accounts: { [account]: 'admin' } });
    const { page, context } = await windowOf(browser, server, admin);
    await page.goto(`/accounts/${account}/team`);
    // An account needs an admin; the page explains this before a click.
    await page.getByText('You are the only admin').waitFor();
    expect(await page.getByRole('button', { name: 'Leave account' }).isDisabled()).toBe(true);
    expect(await page.getByRole('combobox', { name: /^Role of/ }).count()).toBe(0);
    await press(page, 'Invite member');
    await fill(page, 'Email', 'bia@example.com');
    await press(page, 'Create link');
    const link = await page.getByText(/\/invitation#/).textContent();
    await press(page, 'Done');
    await page.getByRole('cell', { name: 'bia@example.com', exact: true }).waitFor();

    const other = await freshPage();
    await other.goto(String(link));
    await heading(other, 'Join Loja Verde').waitFor();
    await fill(other, 'Your name', 'Bia Lima');
    await fill(other, 'Password', PASSWORD);
    await press(other, 'Join');
    await other.waitForURL(`**/accounts/${account}/overview`);
    await other.goto(`/accounts/${account}/team`);
    await other.getByRole('cell', { name: /Bia Lima \(you\)/ }).waitFor();

    await other.goto(String(link));
    await heading(other, 'This invitation is no longer valid').waitFor();
    await Promise.all([context.close(), other.context().close()]);
  });

  it('turn on two-factor authentication, and ask for a code at the next sign-in', async () => {
    const operator = await person(server, { staff: 'operator' });
    const { page, context } = await windowOf(browser, server, operator);
    await page.goto('/profile');
    const notice = page.getByRole('link', { name: 'Protect your sign-in with two-factor authentication' });
    await notice.waitFor();
    await press(page, 'Turn on');
    await fill(page, 'Your password', PASSWORD);
    await press(page, 'Continue');
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    const secret = await page.getByRole('group', { name: 'secret' }).textContent();
    const uri = `otpauth://totp/Onecode?secret=${String(secret)}`;
    await fill(page, 'Six-digit code from the app', codeOf(uri));
    await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('listitem').first().waitFor();
    const backupCode = await page.getByRole('listitem').first().textContent();
    await press(page, 'I have saved the codes');
    await notice.waitFor({ state: 'detached' });

    // The session has a new CSRF token: a change still works.
    await page.getByRole('button', { name: 'User menu' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    // Each code signs in once: the next one is valid as well, and for longer than a slow page takes.
    for (const [label, code] of [
      ['Code', codeOf(uri, 1)],
      ['Backup code', String(backupCode)],
    ] as const) {
      await heading(page, 'Sign in').waitFor();
      await fill(page, 'Email', operator.email);
      await fill(page, 'Password', PASSWORD);
      await press(page, 'Sign in');
      await heading(page, 'Enter your code').waitFor();
      if (label === 'Backup code') await press(page, 'Use a backup code');
      await fill(page, label, code);
      await press(page, 'Continue');
      await page.getByRole('button', { name: 'User menu' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    }
    await heading(page, 'Sign in').waitFor();
    await context.close();
  });
});
