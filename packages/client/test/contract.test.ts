import {
  startOnecode,
  type Application,
  type OnecodeServer,
  type RecordedSend,
} from '@onecode/client/testing';
import { CONTRACT_SUITES, type ContractTarget } from '@onecode/testing/contract-tests';

describe.each(CONTRACT_SUITES)('the test double: contract tests of %s', (_subject, suite) => {
  let double: OnecodeServer;
  beforeAll(async () => {
    // As with an API without a worker: live sends keep their status.
    double = await startOnecode({ delivery: { status: 'queued' } });
  });
  afterAll(() => double.close());
  suite(() => targetOf(double));
});

/** The test double as a target of the contract tests. */
function targetOf(server: OnecodeServer): ContractTarget {
  const applications = new Map<string, Application>();
  const applicationOf = ({ key }: { key: string }): Application => {
    const application = applications.get(key);
    if (application === undefined) throw new Error('no such application');
    return application;
  };
  const issueKey = (application: Application): string => {
    const key = server.addKey(application);
    applications.set(key, application);
    return key;
  };
  const sendOf = (id: string): RecordedSend => {
    const send = server.sends.find((send) => send.id === id);
    if (send === undefined) throw new Error(`no send ${id}`);
    return send;
  };

  return {
    port: Number(new URL(server.baseUrl).port),
    now: async () => server.now(),
    async buildCaller(mode, { sibling, ...account } = {}) {
      const application = server.addApplication(mode, sibling && applicationOf(sibling).account);
      Object.assign(application.account, account);
      return { mode, key: issueKey(application) };
    },
    addKey: async (caller) => ({ ...caller, key: issueKey(applicationOf(caller)) }),
    revokeKey: async ({ key }) => server.revokeKey(key),
    async limit(caller, limits) {
      Object.assign(applicationOf(caller), limits);
    },
    unitsOf: async (caller) => applicationOf(caller).account,
    age: async (_caller, seconds) => server.advance(seconds),
    async deliver(id, status) {
      const { to } = sendOf(id);
      server.script(to, status === 'failed' ? { status, reason: 'rejected_by_provider' } : { status });
      // Earlier sends keep their status, and the next send to the number waits again.
      server.script(to, { status: 'queued' });
    },
    simulateDelivery: async () => {},
    async expire(id) {
      const leftMs = Date.parse(sendOf(id).expires_at) - server.now().getTime();
      server.advance(Math.max(0, leftMs / 1000) + 1);
    },
    codeOf: async (id) => sendOf(id).code,
    recipientOf: async (id) => sendOf(id).to,
    idempotencyKeyOf: async (id) => sendOf(id).idempotencyKey,
  };
}
