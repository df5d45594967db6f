import { noteMailSender } from '@onecode/store/mails';
import { buildAccount, describeInBrowser, useBrowser } from '@onecode/testing';
import type { Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { inWindow, person } from '../people.js';

const server = useConsole();
const browser = useBrowser();

const TEXTS = {
  en: {
    open: 'Invite member',
    create: 'Create link',
    done: 'Done',
    repeated: 'This address was invited less than an hour ago',
    again: 'You can send the invitation again after ',
    many: 'Too many invitations today',
    tomorrow: 'There is a limit for this account, for your network and for each address. Try again after ',
  },
  'pt-BR': {
    open: 'Convidar membro',
    create: 'Gerar link',
    done: 'Concluir',
    repeated: 'Este e-mail recebeu um convite há menos de uma hora',
    again: 'Você pode enviar o convite de novo depois de ',
    many: 'Muitos convites hoje',
    tomorrow: 'Há um limite para esta conta, para a sua rede e para cada e-mail. Tente de novo depois de ',
  },
} as const;

/** A text, and a time after it. */
const withTime = (text: string): RegExp => new RegExp(`${text}.*2\\d{3},? .*\\d:\\d\\d`);

/** Invites this address on the page Team, and returns what its dialog then shows. */
async function invite(page: Page, email: string, texts: (typeof TEXTS)['en' | 'pt-BR']): Promise<string> {
  await page.reload();
  await page.getByRole('button', { name: texts.open }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input[type=email]').fill(email);
  await dialog.getByRole('button', { name: texts.create }).click();
  await dialog
    .getByRole('alert')
    .or(dialog.getByRole('button', { name: texts.done }))
    .waitFor();
  return dialog.innerText();
}

describeInBrowser('the dialog that invites a member', () => {
  it.each(['en', 'pt-BR'] as const)('shows when a refused invitation can be sent: %s', async (language) => {
    await noteMailSender(server.db.database, 'codes@onecode.example');
    await server.db.sql('delete from counted_tries');
    const texts = TEXTS[language];
    const account = await buildAccount(server.db.database);
    await server.db.sql(`update accounts set trial_countries = '{BR}' where id = $1`, [account]);
    const admin = await person(server, { accounts: { [account]: 'admin' } });
    await server.db.sql('update users set language = $2 where id = $1', [admin.id, language]);
    await inWindow(browser, server, admin, async (page) => {
      await page.goto(`/accounts/${account}/team`);
      expect(await invite(page, 'first@example.com', texts)).toContain('/invitation#');
      const repeated = await invite(page, 'first@example.com', texts);
      expect(repeated).toContain(texts.repeated);
      expect(repeated).toMatch(withTime(texts.again));
      for (let n = 0; n < 9; n += 1)
        await admin.post(`/accounts/${account}/invitations`, { email: `x${n}@example.com`, role: 'viewer' });
      const many = await invite(page, 'second@example.com', texts);
      expect(many).toContain(texts.many);
      expect(many).toMatch(withTime(texts.tomorrow));
    });
  });
});
