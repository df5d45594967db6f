import { findAccount } from '@onecode/store/accounts';
import { setEventWebhook } from '@onecode/store/mails';
import {
  buildAccount,
  buildCaller,
  buildSender,
  describeInBrowser,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  useBrowser,
} from '@onecode/testing';
import type { Locator, Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { person, windowOf, type TestPerson } from '../people.js';

const server = useConsole();
const browser = useBrowser();
let operator: TestPerson;
let account: string;
let application: string;

beforeAll(async () => {
  const { database } = server.db;
  account = await buildAccount(database, { name: 'Loja Azul', credits: 12 });
  application = (await buildCaller(database, 'live', { id: account })).applicationId;
  operator = await person(server, { staff: 'operator', accounts: { [account]: 'admin' } });
  await buildSender(database);
  await setEventWebhook(database, TEST_ACTOR, TEST_SECRET_KEY, account, 'https://hooks.example.com/onecode');
});

type Language = 'en' | 'pt-BR';

async function inLanguage(language: Language, use: (page: Page) => Promise<void>): Promise<void> {
  await server.db.sql('update users set language = $1 where id = $2', [language, operator.id]);
  const { context, page } = await windowOf(browser, server, operator, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  page.setDefaultTimeout(25_000);
  try {
    await use(page);
  } finally {
    await context.close();
  }
}

/** Replaces the text of a field with the clipboard's. */
async function paste(field: Locator, text: string): Promise<void> {
  await field.page().evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await field.focus();
  await field.press('ControlOrMeta+a');
  await field.press('ControlOrMeta+v');
}

/** The body of the next request that changes something. */
const nextChange = (page: Page): Promise<object> =>
  page
    .waitForRequest((request) => ['POST', 'PUT'].includes(request.method()))
    .then((request) => request.postDataJSON() as object);

const WORDS = {
  en: { grant: 'Grant credits', amount: 'Amount', reason: 'Reason', balance: 'Credits: ' },
  'pt-BR': { grant: 'Conceder créditos', amount: 'Quantidade', reason: 'Motivo', balance: 'Créditos: ' },
};

async function openGrant(page: Page, language: Language) {
  const { grant, amount, reason, balance } = WORDS[language];
  await page.goto(`/staff/accounts/${account}`);
  await page.getByRole('button', { name: grant }).click();
  const dialog = page.getByRole('dialog', { name: grant });
  await dialog.getByLabel(reason).fill('invoice 42');
  return {
    dialog,
    field: dialog.getByLabel(amount),
    button: dialog.getByRole('button', { name: grant }),
    balance: dialog.getByText(balance),
  };
}

const creditsOf = async (): Promise<number> =>
  (await findAccount(server.db.database, account))?.credits ?? Number.NaN;

/** The pasted text, and the reason why it is refused. */
const REFUSED: Record<Language, readonly (readonly [string, string])[]> = {
  en: [
    ['2.500', 'in English, 2.500 means 2.5. Use 2,500 for thousands.'],
    ['12.000', 'in English, 12.000 means 12. Use 12,000 for thousands.'],
    ['1.5', 'Enter a whole number, without decimals.'],
    ['1,00', 'Enter a whole number, such as 12500 or 12,500.'],
    ['1e3', 'Enter a whole number, such as'],
    ['-5', 'Enter a whole number, such as'],
    ['R$ 100', 'Enter a whole number, such as'],
    ['١٠٠', 'Enter a whole number, such as'],
    // Two cells of a spreadsheet: in one column, and in one row.
    ['100\r\n200', 'Enter a whole number, such as'],
    ['100\t200', 'Enter a whole number, such as'],
    ['2,000,000', 'Enter a whole number from 1 to 1,000,000.'],
    ['9007199254740993', 'Enter a whole number from 1 to 1,000,000.'],
    ['0', 'Enter a whole number from 1 to 1,000,000.'],
  ],
  'pt-BR': [
    ['2,500', 'em português, 2,500 significa 2,5. Use 2.500 para milhares.'],
    ['1,5', 'Digite um número inteiro, sem casas decimais.'],
    ['12.34.567', 'Use apenas algarismos, como 12500 ou 12.500, sem outros caracteres.'],
    ['2.000.000', 'Digite um número inteiro de 1 a 1.000.000.'],
  ],
};

/** The pasted text, its number, and how the balance shows it. */
const GRANTED: Record<Language, readonly (readonly [string, number, string])[]> = {
  en: [
    ['2,500', 2_500, '2,500'],
    [' 12\u00a0000\r\n', 12_000, '12,000'],
    ['750', 750, '750'],
  ],
  'pt-BR': [
    ['2.500', 2_500, '2.500'],
    ['1 000', 1_000, '1.000'],
  ],
};

describeInBrowser('a field for credits', () => {
  it.each(['en', 'pt-BR'] as const)(
    'in %s refuses a text that is not a number, and grants nothing',
    (language) =>
      inLanguage(language, async (page) => {
        const credits = await creditsOf();
        const changes: string[] = [];
        page.on('request', (request) => request.method() === 'POST' && changes.push(request.url()));
        const { dialog, field, button, balance } = await openGrant(page, language);
        for (const [index, [pasted, reason]] of REFUSED[language].entries()) {
          await paste(field, pasted);
          if (index % 2 === 0) await field.press('Enter');
          else await button.click();
          await dialog.getByText(reason).waitFor();
          // The text is unchanged.
          expect((await field.inputValue()).replaceAll(/\D/g, '')).toBe(pasted.replaceAll(/\D/g, ''));
          expect(await balance.textContent()).not.toContain('→');
        }
        await field.fill('');
        await button.click();
        await dialog
          .getByText(language === 'en' ? 'whole number from 1 to 1,000,000.' : 'inteiro de 1 a 1.000.000.')
          .waitFor();
        expect([changes, await creditsOf()]).toEqual([[], credits]);
      }),
  );

  it.each(['en', 'pt-BR'] as const)('in %s grants the number that the balance shows', (language) =>
    inLanguage(language, async (page) => {
      for (const [index, [pasted, amount, shown]] of GRANTED[language].entries()) {
        const credits = await creditsOf();
        const { dialog, field, button } = await openGrant(page, language);
        await paste(field, pasted);
        const after = (credits + amount).toLocaleString(language);
        await dialog.getByText(`→ ${after} (+${shown})`).waitFor();
        const body = nextChange(page);
        if (index % 2 === 0) await field.press('Enter');
        else {
          await field.blur();
          expect((await field.inputValue()).trim()).toBe(pasted.trim());
          await button.click();
        }
        expect(await body).toMatchObject({ amount });
        await dialog.waitFor({ state: 'hidden' });
        expect(await creditsOf()).toBe(credits + amount);
      }
    }),
  );

  it('accepts typed numbers in the same forms as pasted ones, and shows the error when it loses focus', () =>
    inLanguage('en', async (page) => {
      const { dialog, field } = await openGrant(page, 'en');
      await field.pressSequentially('2.500');
      expect(await field.inputValue()).toBe('2.500');
      await field.press('Tab');
      await dialog.getByText('Use 2,500 for thousands.').waitFor();
      await field.fill('');
      await field.pressSequentially('2,500');
      await field.press('Tab');
      expect(await field.inputValue()).toBe('2,500');
      expect(await dialog.getByText('for thousands').count()).toBe(0);
    }));

  it('steps with the arrow keys and buttons within its bounds, and not from an invalid number', () =>
    inLanguage('en', async (page) => {
      const { dialog, field } = await openGrant(page, 'en');
      const [up, down] = [
        dialog.locator('[aria-hidden] .tabler-icon-chevron-up'),
        dialog.locator('[aria-hidden] .tabler-icon-chevron-down'),
      ];
      await field.press('ArrowUp');
      expect(await field.inputValue()).toBe('1');
      await field.press('ArrowDown');
      expect(await field.inputValue()).toBe('1');
      await field.fill('999');
      await field.press('ArrowUp');
      expect(await field.inputValue()).toBe('1000');
      await down.click();
      expect(await field.inputValue()).toBe('999');
      await up.click();
      expect(await field.inputValue()).toBe('1000');
      for (const kept of ['1,000,000', '1.5']) {
        await field.fill(kept);
        await field.press('ArrowUp');
        expect(await field.inputValue()).toBe(kept);
      }
      await field.fill('5000000');
      await field.press('ArrowDown');
      expect(await field.inputValue()).toBe('4999999');
    }));
});

interface NumberPage {
  path: string;
  /** The buttons and switches before the fields. */
  open: (page: Page) => Promise<void>;
  save: string;
  /** Confirms the dialog before the change. */
  confirm?: (page: Page) => Promise<void>;
  /** Their labels, the pasted text, and the sent value. */
  fields: Record<string, readonly [string, number]>;
}

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name: new RegExp(`${name}$`) }).click();
async function turnOn(page: Page, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const toggle = page.getByRole('switch', { name });
    if (!(await toggle.isChecked())) await toggle.press('Space');
  }
}

const NUMBER_PAGES: Record<string, NumberPage> = {
  settings: {
    path: '/staff/settings',
    open: (page) => turnOn(page, 'Guess budget', 'Mask old numbers', 'Delete old sends'),
    save: 'Save',
    async confirm(page) {
      await page.getByRole('dialog').getByLabel('Reason').fill('a test');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    },
    fields: {
      'Free sends for new accounts': ['1,000', 1_000],
      'Code validity (seconds)': ['1,200', 1_200],
      'Sends per minute per account': ['12,000', 12_000],
      'Wrong codes in a row': ['50', 50],
      'Days until a number is masked': ['1,000', 1_000],
      'Days until a send is deleted': ['2,000', 2_000],
      'Live sends per day for all trial accounts': ['3,000', 3_000],
      'Sign-ups per day from one network': ['4,000', 4_000],
      'Sign-ups per day with one email domain': ['5,000', 5_000],
    },
  },
  'the rate limit of an account': {
    path: '/staff/accounts/ACCOUNT',
    async open(page) {
      await press(page, 'Change rate limit');
      await turnOn(page, 'Custom limit');
    },
    save: 'Save',
    fields: { 'Sends per minute': ['1,500', 1_500] },
  },
  ceilings: {
    path: '/accounts/ACCOUNT/protection',
    async open(page) {
      await press(page, 'Change ceilings');
      await turnOn(page, 'Daily ceiling', 'Monthly ceiling');
    },
    save: 'Save',
    fields: { 'Units per day': ['1,500', 1_500], 'Units per month': ['20 000', 20_000] },
  },
  'the fraud breaker': {
    path: '/accounts/ACCOUNT/protection',
    async open(page) {
      await press(page, 'Change fraud breaker');
      await turnOn(page, 'Fraud breaker');
    },
    save: 'Save',
    fields: { 'Unverified sends (%)': ['80', 80], 'Minimum sends': ['1,000', 1_000] },
  },
  'limits of an application': {
    path: '/accounts/ACCOUNT/applications/APPLICATION',
    open: (page) => turnOn(page, 'Limit all sends', 'Limit sends per recipient'),
    save: 'Save limits',
    fields: { 'Sends per minute': ['1,200', 1_200], 'Sends per recipient per hour': ['1,300', 1_300] },
  },
  'the low balance': {
    path: '/accounts/ACCOUNT/ledger',
    async open(page) {
      await press(page, 'Set low-balance alert');
      await turnOn(page, 'Notify the admins and the webhook');
    },
    save: 'Save',
    fields: { 'Notify below this number of units': ['10,000', 10_000] },
  },
  'the throughput of a sender': {
    path: '/staff/senders',
    async open(page) {
      await page.getByRole('row').nth(1).getByRole('link').first().click();
      await page.getByRole('button', { name: /^More/ }).click();
      await page.getByRole('menuitem', { name: 'Edit sender' }).click();
    },
    save: 'Save',
    fields: { 'Messages per second': ['1,000', 1_000] },
  },
};

/** `npm run test:all` opens each of the pages, `npm test` one of them. */
const PAGES = Object.entries(NUMBER_PAGES).slice(0, process.env['ALL_TESTS'] === '1' ? undefined : 1);

describeInBrowser('the number fields', () => {
  it.each(PAGES)('of %s show the error of a number, and send the number that they show', (_, on) =>
    inLanguage('en', async (page) => {
      await page.goto(on.path.replace('ACCOUNT', account).replace('APPLICATION', application));
      await on.open(page);
      const scope =
        (await page.getByRole('dialog').count()) > 0 ? page.getByRole('dialog') : page.getByRole('main');
      const fieldOf = (label: string): Locator => scope.getByRole('textbox', { name: label });
      const save = scope.getByRole('button', { name: on.save, exact: true });
      const labels = Object.keys(on.fields);
      for (const [pasted, reason] of [
        ['1.000', 'in English, 1.000 means 1.'],
        ['1.5', 'without decimals'],
        ['1,00', 'Enter a whole number, such as'],
        ['99,999,999,999', 'Enter a whole number from'],
      ] as const) {
        for (const label of labels) await paste(fieldOf(label), pasted);
        await save.click();
        for (const label of labels) await fieldOf(label).and(page.locator('[aria-invalid=true]')).waitFor();
        expect(await scope.getByText(reason).count()).toBe(labels.length);
        for (const label of labels) expect(await fieldOf(label).inputValue()).toBe(pasted);
      }
      for (const [label, [pasted]] of Object.entries(on.fields)) await paste(fieldOf(label), pasted);
      const body = nextChange(page);
      await save.click();
      await on.confirm?.(page);
      const sent = Object.values(await body).flatMap((value: unknown) =>
        typeof value === 'object' && value !== null ? Object.values(value) : [value],
      );
      expect(new Set(sent.filter((value) => typeof value === 'number'))).toEqual(
        new Set(Object.values(on.fields).map(([, number]) => number)),
      );
    }),
  );

  it.each([
    ['en', 'Set price', 'Price', '0,0068', 'Enter a number such as 0.0068, with a point', '0.0068'],
    [
      'pt-BR',
      'Definir preço',
      'Preço',
      '0.0068',
      'Use apenas algarismos, como 0,0068, com vírgula',
      '0,0068',
    ],
  ] as const)(
    'of prices in %s accept decimals in the format of the language',
    (language, set, label, wrong, reason, right) =>
      inLanguage(language, async (page) => {
        await page.goto('/staff/settings');
        await press(page, set);
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('combobox').first().click();
        await page.getByRole('option').first().click();
        const price = dialog.getByRole('textbox', { name: label });
        const button = dialog.getByRole('button', { name: set });
        for (const [pasted, why] of [
          [wrong, reason],
          [
            `${right}001`,
            language === 'en' ? 'Use at most 6 decimal places.' : 'Digite no máximo 6 casas decimais.',
          ],
          [
            language === 'en' ? '1,001' : '1.001',
            language === 'en' ? 'Enter a number from 0 to 1,000.' : 'Digite um número de 0 a 1.000.',
          ],
        ] as const) {
          await paste(price, pasted);
          await button.click();
          await dialog.getByText(why).waitFor();
          expect(await price.inputValue()).toBe(pasted);
        }
        await paste(price, right);
        const body = nextChange(page);
        await button.click();
        expect(await body).toMatchObject({ price: 0.0068 });
      }),
  );
});

describeInBrowser('a date in the URL of a page', () => {
  it('is ignored if it does not exist', () =>
    inLanguage('en', async (page) => {
      const asked = async (from: string): Promise<string> => {
        const request = page.waitForRequest(/\/api\/staff\/audit\?/);
        await page.goto(`/staff/audit?from=${from}`);
        return (await request).url();
      };
      expect(await asked('2026-02-28')).toContain('from=');
      for (const day of ['2026-02-31', '2026-13-01', '2026-11-00'])
        expect(await asked(day)).not.toContain('from=');
    }));
});
