import type { Sender } from '@onecode/store';
import { buildCaller, buildSend, buildSender, type TestCaller } from '@onecode/testing';
import type { SendDetailsView, SendsView } from '../../../src/features/sends/view.js';
import type { ConsoleEnvironment } from '../../console.js';
import { person, type TestPerson } from '../../people.js';

export const CODE = '734192';
export const PHONE = '+5511912345678';

/** An account that sends live and in test mode, somebody who reads there, and an account of others. */
export interface SendsEnvironment {
  live: TestCaller;
  test: TestCaller;
  foreign: TestCaller;
  sender: Sender;
  viewer: TestPerson;
  /** Where the account's sends are, below `/api`. */
  path: string;
  list: (query?: string) => Promise<SendsView>;
  details: (id: string) => Promise<SendDetailsView>;
  build: (caller: TestCaller, wishes?: Parameters<typeof buildSend>[2]) => Promise<string>;
}

export const idsOf = ({ sends }: SendsView): string[] => sends.map(({ id }) => id);

export async function createSendsEnvironment(server: ConsoleEnvironment): Promise<SendsEnvironment> {
  const { database } = server.db;
  const live = await buildCaller(database, 'live', { freeQuota: 2, credits: 100 });
  const viewer = await person(server, { accounts: { [live.accountId]: 'viewer' } });
  const path = `/accounts/${live.accountId}/sends`;
  const read = async <View>(address: string): Promise<View> => {
    const { status, body } = await viewer.get<View>(address);
    expect(status).toBe(200);
    return body;
  };
  return {
    live,
    test: await buildCaller(database, 'test', { id: live.accountId }),
    foreign: await buildCaller(database, 'live', { credits: 10 }),
    sender: await buildSender(database),
    viewer,
    path,
    list: (query = '') => read<SendsView>(`${path}${query}`),
    details: (id) => read<SendDetailsView>(`${path}/${id}`),
    build: (caller, wishes = {}) => buildSend(database, caller, { code: CODE, recipient: PHONE, ...wishes }),
  };
}
