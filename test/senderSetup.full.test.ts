import { spawn } from 'node:child_process';
import { ProcessStack, STACK_START_MS_MAX, until } from '@onecode/testing';

const ACCOUNT = '300000000000001';
const NUMBER_ID = '400000000000001';
const TOKEN = 'EAAGsystemUserToken';
const PHONE = '+5511912345678';

interface Result {
  sender: { id: string; state: string } | null;
  steps: { step: string; status: string; detail: string }[];
}

describe('sender setup', () => {
  let stack: ProcessStack;
  beforeAll(async () => {
    stack = await ProcessStack.start();
    await stack.simulator.changeAccount(ACCOUNT, { startsEmpty: true, subscribed: false });
    await stack.simulator.changeSender(NUMBER_ID, {
      wabaId: ACCOUNT,
      displayPhoneNumber: '15550783881',
      status: 'PENDING',
      registered: false,
    });
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  /** Starts the command with the token and the PIN on standard input. */
  function start(...options: string[]) {
    const args = ['sender', 'setup', '--business-account', ACCOUNT, '--token', '-', '--pin', '-', ...options];
    const child = spawn(process.execPath, ['apps/cli/dist/main.js', ...args, '--json'], {
      env: {
        DATABASE_URL: stack.db.url,
        SECRET_KEY: stack.secrets.secretKey,
        WHATSAPP_API_URL: `${stack.simulator.url}/v25.0`,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.stdin.end(`${TOKEN}\n482913\n`);
    const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
      child.on('close', (code) => resolve({ code, output }));
    });
    return { child, ended };
  }

  it('that is killed while Meta reviews the templates continues in the next run, up to a delivered code', async () => {
    await stack.simulator.changeSettings({ reviewMs: 3_000 });
    const killed = start();
    await until('a sender that waits for its templates', async () => {
      const rows = await stack.db.sql('select from senders');
      return rows.length === 1;
    });
    killed.child.kill('SIGKILL');
    expect((await killed.ended).code).toBeNull();

    const { code, output } = await start('--test-to', PHONE).ended;
    const { sender, steps } = JSON.parse(output) as Result;
    expect({
      code,
      steps: Object.fromEntries(steps.map(({ step, status }) => [step, status])),
    }).toMatchObject({
      code: 0,
      steps: {
        registration: 'done',
        subscription: 'already',
        sender: 'already',
        activation: 'done',
        test: 'done',
      },
    });
    expect(sender).toMatchObject({ state: 'active' });
    const message = await stack.simulator.message(PHONE);
    expect(steps.at(-1)!.detail).toContain(message.code);

    const account = await stack.onecode('account create --name Shop --credits 1');
    const key = await stack.makeKey(String(account['id']), 'live');
    const { id } = await stack.create(key, { to: '+5511987654321' });
    await stack.untilStatus(key, id, 'delivered');
  });
});
