import type { AddressInfo } from 'node:net';
import { parseNumber } from './input.js';
import { checkOutcomes, isDelivery } from './outcomes.js';
import { createContractServer } from './server.js';
import { Service, viewAt } from './service.js';
import type { Account, Application, OnecodeServer, OnecodeServerOptions, RecordedSend } from './types.js';

export type * from './types.js';

/** Starts the contract in memory, on a port of 127.0.0.1 unless another host is given. It sends nothing to other machines. */
export async function startOnecode(options: OnecodeServerOptions = {}): Promise<OnecodeServer> {
  const { codeValiditySeconds = 600, freeSends = 10, delivery = { status: 'delivered' } } = options;
  const { port = 0, host = '127.0.0.1', keys = {} } = options;
  const deliveries = checkOutcomes([delivery].flat()).filter(isDelivery);
  const service = new Service({ codeValiditySeconds, delivery: deliveries });
  const newAccount = (): Account => {
    const { freeQuota = freeSends, credits = 1000, ratePerMinute = 600 } = options;
    return { freeQuota, credits, ratePerMinute };
  };
  const addApplication = (mode: Application['mode'], account = newAccount()): Application => {
    const { perMinute = null, perRecipientHour = null } = options;
    return { mode, account, perMinute, perRecipientHour };
  };
  const account = newAccount();
  const applications = { test: addApplication('test', account), live: addApplication('live', account) };
  const server = createContractServer(service, freeSends);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });

  return {
    baseUrl: `http://${localName(host)}:${(server.address() as AddressInfo).port}`,
    keys: {
      test: service.addKey(applications.test, keys.test),
      live: service.addKey(applications.live, keys.live),
    },
    applications,
    account,
    get sends() {
      const now = service.tick();
      return service.sends.map((send): RecordedSend => {
        const { to, code, locale, idempotencyKey } = send;
        return { ...viewAt(send, now), to, code, locale, idempotencyKey };
      });
    },
    now: () => new Date(service.now()),
    lastCode(to) {
      const number = numberOf(to);
      const send = service.sends.findLast((send) => send.to === number);
      if (send === undefined) throw new Error('Nothing was sent to this number.');
      return send.code;
    },
    script: (to, ...outcomes) => service.script(numberOf(to), checkOutcomes(outcomes)),
    advance: (seconds) => service.advance(seconds),
    addApplication,
    addKey: (application) => service.addKey(application),
    revokeKey(key) {
      if (!service.callers.delete(key)) throw new Error('There is no such key.');
    },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** Returns the name by which this machine reaches a host that the server listens at. */
function localName(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function numberOf(to: unknown): string {
  const number = typeof to === 'string' ? parseNumber(to) : null;
  if (number === null) throw new RangeError('This is not a phone number with + and country code.');
  return number;
}
