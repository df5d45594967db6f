import { maskRecipient, templateBlock, UNREADABLE_TOKEN, type SenderReading } from '@onecode/domain';
import { findAccount, grantCredits } from '@onecode/store/accounts';
import { placeHold, releaseHold } from '@onecode/store/holds';
import { createPresence, listAuditEntries } from '@onecode/store/operations';
import { applySenderReading, pauseSender, resumeSender } from '@onecode/store/senders';
import {
  blockSender,
  buildAccount,
  buildCaller,
  buildSend,
  buildSender,
  describeInBrowser,
  TEST_ACTOR,
  until,
  useBrowser,
} from '@onecode/testing';
import { classifyError, explainError } from '@onecode/whatsapp';
import type { Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { inWindow, person, windowOf, type TestPerson } from '../people.js';

const server = useConsole();
const browser = useBrowser();
/** The result of reading a sender with a token that Meta rejects. */
const DENIED = 'The access token has expired.';
const INVALID_TOKEN = { isValid: false, scopes: [], expiresAt: 0 };
const NOTHING_READ: SenderReading = {
  businessAccountId: null,
  portfolioId: null,
  number: { token: INVALID_TOKEN },
  businessAccount: {},
  templates: null,
  failures: { number: DENIED, businessAccount: DENIED, subscription: DENIED, templates: DENIED },
};
let operator: TestPerson;
let account: string;
beforeAll(async () => {
  operator = await person(server, { staff: 'operator' });
  account = await buildAccount(server.db.database, { name: 'Loja Azul', credits: 12 });
});

const asPerson = (who: TestPerson, use: (page: Page) => Promise<void>) => inWindow(browser, server, who, use);

describeInBrowser('the pages of staff', () => {
  it('let an operator find an account and grant it credits once, although the response is lost and the button clicked again', () =>
    asPerson(operator, async (page) => {
      await page.goto('/staff/accounts');
      await page.getByLabel('Name or account ID').fill('azul');
      await page.getByRole('link', { name: 'Loja Azul' }).click();
      await page.getByRole('button', { name: 'Grant credits' }).click();

      const dialog = page.getByRole('dialog', { name: 'Grant credits' });
      const grant = (): Promise<void> => dialog.getByRole('button', { name: 'Grant credits' }).click();
      await dialog.getByLabel('Amount').fill('500');
      await dialog.getByText('Credits: 12 → 512').waitFor();
      await grant();
      await dialog.getByText('Enter a reason.').waitFor();
      await dialog.getByLabel('Reason').fill('invoice 42');
      await dialog.getByLabel('Reference').fill('INV-42');
      await dialog.getByLabel('Last day').fill('2020-01-31');
      await grant();
      await dialog.getByText('This time is in the past.').waitFor();
      await dialog.getByLabel('Last day').fill('2090-01-31');
      // Never unrouted: Chromium may lose requests while the last route is removed.
      const lost: number[] = [];
      await page.route('**/credits', async (route) => {
        if (lost.length > 0) return route.continue();
        lost.push((await route.fetch()).status());
        return route.abort('connectionreset');
      });
      await grant();
      await dialog.getByRole('alert').waitFor();
      expect(lost).toEqual([204]);
      await page.locator('main').getByText('512', { exact: true }).waitFor();

      await grant();
      await dialog.waitFor({ state: 'hidden' });
      await page.getByRole('main').getByRole('link', { name: 'Audit log' }).click();
      await page.getByRole('row', { name: /Granted credits.*invoice 42/ }).waitFor();
      expect(await listAuditEntries(server.db.database, { limit: 1 })).toMatchObject([
        {
          action: 'account.credit',
          actor: { kind: 'staff', id: operator.id, name: operator.email },
          details: { amount: 500, reason: 'invoice 42', before: { credits: 12 }, after: { credits: 512 } },
        },
      ]);
      expect(await findAccount(server.db.database, account)).toMatchObject({ credits: 512 });
      await page.goto(`/staff/accounts/${account}/ledger`);
      await page.getByText('500 credits expire unless they are used by').waitFor();
      await page.getByText('Reference: INV-42').waitFor();
    }));

  it('open a send by an id from the logs', async () => {
    const caller = await buildCaller(server.db.database, 'test', { id: account });
    const send = await buildSend(server.db.database, caller);
    await asPerson(await person(server, { staff: 'on_call' }), async (page) => {
      await page.goto('/staff/accounts');
      await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
      await page.keyboard.press('/');
      await page.getByRole('dialog').getByRole('textbox').fill(` ${send.toUpperCase()}`);
      await page.getByRole('dialog').getByRole('link').click();

      await page.getByRole('heading', { name: 'Send', level: 1 }).waitFor();
      await page.getByRole('region', { name: 'Timeline' }).getByText('Created').waitFor();
      await page.getByRole('link', { name: 'Loja Azul' }).click();
      await page.getByRole('heading', { name: 'Loja Azul', level: 1 }).waitFor();
    });
  });

  it.each([
    ['shared', 'still sent from the service’s numbers after that'],
    ['own', 'used for your live sends immediately'],
  ] as const)('show the effect of activating a sender under the policy %s', async (policy, text) => {
    const owner = await buildAccount(server.db.database);
    await server.db.sql('update accounts set senders = $2 where id = $1', [owner, policy]);
    await buildSender(server.db.database, { owner: { accountId: owner, applicationIds: [] } });
    await asPerson(await person(server, { accounts: { [owner]: 'admin' } }), async (page) => {
      // As after its checks have passed.
      await page.route('**/api/accounts/*/senders', async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { senders: { provider: object }[] };
        const senders = body.senders.map((sender) => ({
          ...sender,
          isNew: true,
          provider: { ...sender.provider, maySend: true },
        }));
        await route.fulfill({ response, json: { ...body, senders } });
      });
      await page.goto(`/accounts/${owner}/senders`);
      await page.getByRole('main').getByRole('link', { name: '+' }).click();
      await page.getByRole('button', { name: 'Activate' }).click();
      await page.getByRole('dialog').getByText(text).waitFor();
    });
  });

  it('hold all live delivery, show that on every page of staff, and release it', () =>
    asPerson(operator, async (page) => {
      await page.goto('/staff/holds');
      await page.getByRole('button', { name: 'Hold all live delivery' }).click();
      const dialog = page.getByRole('dialog', { name: 'Hold all live delivery?' });
      await dialog.getByLabel('Reason').fill('the template was rejected');
      await dialog.getByRole('button', { name: 'Hold all live delivery' }).click();
      await page.getByRole('heading', { name: 'All live delivery is on hold' }).waitFor();

      const banner = page.getByRole('alert').filter({ hasText: 'the template was rejected' });
      for (const name of ['Health', 'Accounts', 'Senders', 'Settings', 'Audit log', 'Holds']) {
        await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1 }).waitFor();
        await banner.waitFor();
      }

      await page.getByRole('button', { name: 'Release' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('it is over');
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
      await page.getByRole('heading', { name: 'Live delivery is running' }).waitFor();
      await banner.waitFor({ state: 'hidden' });
    }));

  it('show the number of failing checks in the tab, and resume a blocked sender from its incident', async () => {
    const { database } = server.db;
    const now = performance.now();
    const lastRuns = { deliver: now, sweep: now };
    await (await createPresence(database, { kind: 'worker', release: '0.9.0', lastRuns })).report();
    await server.db.sql('delete from senders');
    const sender = await buildSender(database);
    await blockSender(database, sender, { errorCode: 190, isConfiguration: true });
    await asPerson(await person(server, { staff: 'on_call' }), async (page) => {
      await page.goto('/staff/health');
      await page.getByRole('heading', { name: /access token has expired/ }).waitFor();
      // The heartbeats become too old in the meantime, which is another finding.
      await until('the count', async () => /^\([1-9]\) Health · Onecode$/.test(await page.title()));
      expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('/icon-failing.svg');
      // A problem in only one reading is not in the history.
      await until(
        'a second reading',
        async () =>
          (
            await server.db.sql(
              `select from incidents where name = 'sender_misconfigured' and seen_at >= began_at + interval '1 second'`,
            )
          ).length > 0,
      );

      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('it has a new token');
      await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('heading', { name: /access token has expired/ }).waitFor({ state: 'detached' });
      await page.getByRole('cell', { name: /access token has expired/ }).waitFor();
    });
  });

  it('let an on-call engineer acknowledge an incident with a note, and hand over actions that only an operator may take', async () => {
    const { database } = server.db;
    await server.db.sql('delete from senders');
    const sender = await buildSender(database);
    await blockSender(database, sender, { errorCode: 190, isConfiguration: true });
    const onCall = await person(server, { staff: 'on_call' });
    const { context, page } = await windowOf(browser, server, onCall);
    page.setDefaultTimeout(25_000);
    let message = '';
    await page.exposeFunction('keepCopied', (text: string) => (message = text));
    // All tests share the browser's clipboard.
    await page.addInitScript('navigator.clipboard.writeText = keepCopied');
    await page.goto('/staff/health');
    const incident = page.getByRole('region', { name: /access token has expired/ });
    await incident.getByText(maskRecipient(sender.number)).waitFor();
    await incident.getByText('Only an operator can do this.').waitFor();
    await incident.getByRole('button', { name: 'Copy message for an operator' }).click();
    await incident.getByRole('button', { name: 'Message copied' }).waitFor();
    expect(message.split('\n')).toEqual([
      expect.stringMatching(/^Problem on our side \(Failing\): .*access token has expired/),
      expect.stringMatching(/^Since: /),
      `1 of 1 senders cannot send · ${maskRecipient(sender.number)}`,
      'Sends waiting: 0',
      expect.stringMatching(/^To do: Give the sender a new access token/),
      `${server.url}/staff/senders/${sender.id}`,
    ]);
    const mainActions = page.getByRole('main').locator('button[data-variant=filled], a[data-variant=filled]');
    expect(await mainActions.allTextContents()).toEqual(['Acknowledge']);

    await incident.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('dialog').getByLabel('Note').fill('asked Ana for a token');
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
    await incident.getByText(`Acknowledged by ${onCall.email}`).waitFor();
    await incident.getByText('“asked Ana for a token”').waitFor();
    expect(await mainActions.allTextContents()).toEqual(['Runbook']);
    await incident.getByRole('link', { name: maskRecipient(sender.number) }).click();
    await page.getByRole('heading', { level: 1, name: sender.number }).waitFor();
    await page.getByText('What to do: Give the sender a new access token').waitFor();
    await page.getByRole('button', { name: 'Copy message for an operator' }).waitFor();
    await context.close();
  });

  it('name the file of each document that a runbook refers to, and link to other runbooks', async () => {
    const who = await person(server, { staff: 'on_call' });
    await asPerson(who, async (page) => {
      await page.goto('/staff/runbooks#postgresql_overloaded');
      const runbook = page.getByRole('region', { name: 'postgresql_overloaded' });
      await runbook.getByText('raise max_wal_size (docs/operations.md)').waitFor();
      await page.getByRole('link', { name: 'workers_behind' }).first().waitFor();
    });
  });

  it('list each sender in one line with what needs attention', async () => {
    const { database } = server.db;
    await server.db.sql('delete from senders');
    const owner = await buildAccount(database, { name: 'Loja Roxa' });
    const [healthy, blocked] = [
      await buildSender(database, { owner: { accountId: owner, applicationIds: [] } }),
      await buildSender(database),
    ];
    await blockSender(database, blocked, { errorCode: 190, isConfiguration: true });
    await applySenderReading(
      database,
      healthy,
      {
        ...NOTHING_READ,
        number: { token: INVALID_TOKEN, quality: 'RED', messagingLimit: 'TIER_250' },
        failures: {},
      },
      new Date(),
    );
    await asPerson(operator, async (page) => {
      await page.setViewportSize({ width: 1280, height: 860 });
      await page.goto('/staff/senders');
      await page.getByRole('row', { name: /Loja Roxa Active Low 0 of 250 – \d+ checks$/ }).waitFor();
      const row = page.getByRole('row', {
        name: /All accounts Cooling down after errors – – – .*token has expired/,
      });
      await row.waitFor();
      expect((await row.boundingBox())!.height).toBeLessThan(60);
    });
    await server.db.sql('delete from senders');
  });

  it('check a sender with Meta from the incident, and show the result', async () => {
    const { database } = server.db;
    await server.db.sql('delete from senders');
    const sender = await buildSender(database);
    const dueAt = async () =>
      (await server.db.sql<{ at: Date }>('select read_due_at as at from senders'))[0]!.at.getTime();
    const before = await dueAt();
    await blockSender(database, sender, { errorCode: 190, isConfiguration: true });
    await asPerson(await person(server, { staff: 'on_call' }), async (page) => {
      await page.goto('/staff/health');
      const incident = page.getByRole('region', { name: /access token has expired/ });
      // A reading of the last second may still show the sender of another test.
      await incident.getByText(maskRecipient(sender.number)).waitFor();
      await incident.getByRole('button', { name: 'Check now' }).click();
      await incident.getByRole('status').getByText('Checking with Meta').waitFor();
      // The page shows it before the server responds.
      await until('a new time', async () => (await dueAt()) !== before);
      await applySenderReading(database, sender, NOTHING_READ, new Date(await dueAt()));
      await incident
        .getByRole('status')
        .getByText(/^Checked: \d+ checks? needs? attention$/)
        .waitFor();
    });
  });

  it('show which sender’s messages Meta holds, and lead to the sender’s page with the number of the day', async () => {
    const { database } = server.db;
    await server.db.sql('delete from senders');
    const sender = await buildSender(database);
    const send = await buildSend(database, await buildCaller(database, 'live', { credits: 9 }));
    await server.db.sql(
      `insert into attempts (send_id, number, sender_id, outcome, message_status, started_at, finished_at)
       select $1, minutes, $2, 'accepted', 'paused', at, at
       from unnest(array[1, 5, 10, 20, 40, 600]) minutes, lateral (select now() - make_interval(mins => minutes)) t (at)`,
      [send, sender.id],
    );
    await asPerson(await person(server, { staff: 'on_call' }), async (page) => {
      await page.goto('/staff/health');
      const incident = page.getByRole('region', { name: /Meta accepts messages and holds them/ });
      await incident.getByText('5 held messages in the last hour').waitFor();
      await incident.getByRole('button', { name: 'Pause' }).waitFor();
      await incident.getByRole('link', { name: maskRecipient(sender.number) }).click();
      await page.getByRole('heading', { level: 1, name: sender.number }).waitFor();
      const held = page
        .getByRole('definition')
        .filter({ hasText: 'Meta accepted them, but sends them later or drops them.' });
      expect(await held.innerText()).toMatch(/^6\s/);
      await page.getByText('Messages held in the last 24 hours').waitFor();
    });
    await server.db.sql('delete from senders');
  });

  it('show the former state of an activated sender in the audit log in Portuguese', async () => {
    const reader = await person(server, { staff: 'operator' });
    await server.db.sql("update users set language = 'pt-BR' where id = $1", [reader.id]);
    const fields = { phoneNumberId: '106540352249999', number: '+15550789999', throughput: 20 };
    const texts = { token: 'a-token-of-meta', template: 'verification_code', englishTemplateLanguage: 'en' };
    const added = await reader.post('/staff/senders', { ...fields, ...texts });
    expect(added.status).toBeLessThan(300);
    const [sender] = await server.db.sql<{ id: string }>(
      'select id from senders where phone_number_id = $1',
      [fields.phoneNumberId],
    );
    await resumeSender(server.db.database, TEST_ACTOR, sender!.id);
    await asPerson(reader, async (page) => {
      await page.goto('/staff/audit');
      await page.getByText('adicionado, ainda não ativado').first().waitFor();
      expect(await page.getByText('not activated yet').count()).toBe(0);
    });
  });

  it('show in Portuguese why a sender is blocked, for every cause', async () => {
    const { database } = server.db;
    await server.db.sql('delete from senders');
    const at = { at: '2026-01-01T00:00:00Z', since: '2026-01-01T00:00:00Z' };
    const fact = <T>(value: T) => ({ value, ...at });
    const met = [401, 429, 503].map((httpStatus) => classifyError(httpStatus, {}).reason);
    const expired = explainError(190, 'config').meaning;
    const ofTemplate = templateBlock({ category: fact('MARKETING') })!;
    const refused = 'Meta reports that it cannot send: PARTNER_REMOVED';
    const reasons = [refused, ofTemplate, ...met, UNREADABLE_TOKEN.reason, expired];
    for (const reason of reasons)
      await blockSender(database, await buildSender(database), {
        reason,
        errorCode: reason === expired ? 190 : null,
        isConfiguration: true,
      });
    const paused = await buildSender(database);
    await pauseSender(database, TEST_ACTOR, paused.id);
    const who = await person(server, { staff: 'on_call' });
    await server.db.sql(`update users set language = 'pt-BR' where id = $1`, [who.id]);

    await asPerson(who, async (page) => {
      for (const [path, row] of [
        ['senders', page.getByRole('row').filter({ hasText: paused.number })],
        ['health', page.getByRole('row').filter({ hasText: maskRecipient(paused.number) })],
      ] as const) {
        await page.goto(`/staff/${path}`);
        await row.getByText('Um operador ou um administrador o pausou.').first().waitFor();
        await page.getByText('O token de acesso do remetente').first().waitFor();
        const text = (await page.getByRole('main').innerText()).toLowerCase();
        expect(reasons.filter((reason) => text.includes(reason.toLowerCase()))).toEqual([]);
      }
    });
    await server.db.sql('delete from senders');
  });

  it('pause a sender with a reason and resume it', () =>
    asPerson(operator, async (page) => {
      const { id, number } = await buildSender(server.db.database);
      await page.goto('/staff/senders');
      await page.getByRole('link', { name: number }).click();
      await page.waitForURL(`**/staff/senders/${id}`);
      const card = page.getByRole('main');
      await card.getByRole('button', { name: 'Pause' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('Meta asked us to');
      await dialog.getByRole('button', { name: 'Pause' }).click();
      await card.getByText('Meta asked us to').waitFor();

      await card.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('it is over');
      await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
      await card.getByText('Active').waitFor();
    }));

  it('filter the audit log by account and area, in a URL that can be shared', async () => {
    const other = await buildAccount(server.db.database, { name: 'Banco Verde' });
    await grantCredits(server.db.database, TEST_ACTOR, other, 5, 'a test');
    let address = '';
    await asPerson(operator, async (page) => {
      await page.goto('/staff/audit');
      await page
        .getByRole('row', { name: /Loja Azul/ })
        .first()
        .waitFor();
      await page.getByRole('combobox', { name: 'Account' }).fill('verde');
      await page.getByRole('option', { name: 'Banco Verde' }).click();
      await page
        .getByRole('row', { name: /Loja Azul/ })
        .first()
        .waitFor({ state: 'hidden' });
      address = page.url();
    });
    await asPerson(operator, async (page) => {
      await page.goto(address);
      await page.getByRole('row', { name: /Granted credits.*Banco Verde/ }).waitFor();
      expect(await page.getByRole('row').count()).toBe(3);
      const picker = page.getByRole('combobox', { name: 'Account' });
      await until('the name in the filter', async () => (await picker.inputValue()) === 'Banco Verde');
      await page.getByRole('combobox', { name: 'Area' }).click();
      await page.getByRole('option', { name: 'Senders' }).click();
      await page.getByText('No changes yet').waitFor();
    });
  });

  it('show an error next to its field, and ask for confirmation before a setting of all accounts is saved', () =>
    asPerson(operator, async (page) => {
      await page.goto('/staff/settings');
      const validity = page.getByLabel('Code validity (seconds)');
      await validity.fill('6000');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Enter a whole number from 60 to 3,600.').waitFor();
      expect(await validity.inputValue()).toContain('6');

      await validity.fill('300');
      await page.getByText('5 min').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      const dialog = page.getByRole('dialog', { name: 'Change the settings of all accounts?' });
      await dialog.getByText('code validity (seconds): 600 → 300').waitFor();
      await dialog.getByText('Existing codes keep the validity').waitFor();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText('Enter a reason.').waitFor();
      await dialog.getByLabel('Reason').fill('shorter codes');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('row', { name: /code validity \(seconds\).*600 → 300/ }).waitFor();
    }));

  it('give on-call staff only the controls that pause, hold, resume and release deliveries', async () => {
    const { database } = server.db;
    const { id } = await buildSender(database);
    await pauseSender(database, TEST_ACTOR, id);
    const everything = { kind: 'live', target: '' } as const;
    await placeHold(database, TEST_ACTOR, { ...everything, reason: 'a test' });
    const onCall = await person(server, { staff: 'on_call' });

    await asPerson(onCall, async (page) => {
      for (const [path, shown] of [
        [`accounts/${account}`, 'Loja Azul'],
        ['settings', 'Settings'],
      ]) {
        await page.goto(`/staff/${path}`);
        await page.getByRole('heading', { level: 1, name: shown! }).waitFor();
        await page.getByText('Your role is read-only').waitFor();
        await until(
          'the end of loading',
          async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0,
        );
        const main = page.getByRole('main');
        const pressable = main.locator('button:enabled, input:enabled, textarea:enabled, select:enabled');
        const names = await pressable.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
        expect([path, names.filter((name) => name?.startsWith('Copy ') !== true)]).toEqual([path, []]);
      }
      const buttons = async (path: string, first: string): Promise<string[]> => {
        await page.goto(path);
        await page.getByRole('main').getByRole('button', { name: first }).first().waitFor();
        const named = await page.getByRole('main').getByRole('button').allTextContents();
        return [...new Set(named.filter((name) => name !== ''))].toSorted();
      };
      await page.goto('/staff/senders');
      await page.getByRole('row').nth(1).waitFor();
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
      expect(await buttons(`/staff/senders/${id}`, 'Resume')).toEqual(['Check now', 'Resume']);
      expect(await buttons('/staff/holds', 'Release')).toEqual([
        'Hold a country',
        'Hold an account',
        'Release',
      ]);
    });
    await releaseHold(database, TEST_ACTOR, everything);
  });
});
