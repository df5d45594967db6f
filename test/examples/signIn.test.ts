import {
  describeIf,
  describeInBrowser,
  ProcessStack,
  STACK_START_MS_MAX,
  useBrowser,
} from '@onecode/testing';
import { EXAMPLES, isInstalled, startExample, type RunningExample } from './exampleProcess.js';
import { PREPARE_MS_MAX, prepareExample } from './preparedExample.js';

describeInBrowser('a sign-in with the built processes', () => {
  const browser = useBrowser();
  let stack: ProcessStack;
  let key: string;
  beforeAll(async () => {
    stack = await ProcessStack.start();
    await stack.addSender();
    const account = await stack.onecode('account create --name Shop --free-quota 100');
    key = await stack.makeKey(String(account['id']), 'live');
  }, STACK_START_MS_MAX);
  afterAll(() => stack?.stop());

  EXAMPLES.forEach((example, index) => {
    describeIf(isInstalled(example.needs))(`of the ${example.name} example`, () => {
      const mine = `+55119876543${index}1`;
      const other = `+55119876543${index}2`;
      let running: RunningExample;
      beforeAll(async () => {
        running = await startExample(example, await prepareExample(example), {
          ONECODE_URL: stack.apis[0]!,
          ONECODE_API_KEY: key,
        });
      }, PREPARE_MS_MAX);
      afterAll(() => running?.stop());

      const ask = async (to: string) => {
        const page = await (await browser.newContext()).newPage();
        await page.goto(running.url);
        await page.getByLabel(/^WhatsApp number/).fill(to);
        await page.getByRole('button', { name: 'Send code' }).click();
        await page.getByText(`We sent a code to ${to}`).waitFor();
        const phone = await (await browser.newContext()).newPage();
        await phone.goto(stack.simulator.url);
        await phone
          .getByText(/\b\d{6}\b/)
          .first()
          .waitFor();
        const { code } = (await stack.simulator.message(to)) as unknown as { code: string };
        expect(await phone.content()).toContain(code);
        await phone.close();
        return { page, code };
      };

      it('signs in who types the code, and a code of one session verifies no other', async () => {
        const first = await ask(mine);
        const second = await ask(other);
        await second.page.getByLabel('Code').fill(first.code);
        await second.page.getByRole('button', { name: 'Sign in' }).click();
        await second.page.getByText('That code is wrong.').waitFor();
        await first.page.getByLabel('Code').fill(first.code);
        await first.page.getByRole('button', { name: 'Sign in' }).click();
        await first.page.getByText(`You are signed in as ${mine}.`).waitFor();
        await Promise.all([first.page.context().close(), second.page.context().close()]);
      });
    });
  });
});
