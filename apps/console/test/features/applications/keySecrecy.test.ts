import { randomBytes } from 'node:crypto';
import { isApiKey } from '@onecode/domain';
import { buildCaller, tableContents } from '@onecode/testing';
import type { NewKeyView } from '../../../src/features/applications/view.js';
import { useConsole } from '../../console.js';
import { startLoudConsole } from '../../loudConsole.js';
import { callConsole, person, type Answer } from '../../people.js';

const SESSION_SECRET = randomBytes(32).toString('base64');

const server = useConsole({ SESSION_SECRET });

describe('a key', () => {
  it('is in the answer to its making and never again: in no answer, log line or table', async () => {
    const { accountId, applicationId } = await buildCaller(server.db.database, 'live');
    const { cookie, csrfToken } = await person(server, { accounts: { [accountId]: 'developer' } });
    const loud = await startLoudConsole(server, SESSION_SECRET);
    const headers = { cookie, 'x-csrf-token': csrfToken, origin: server.url };
    const call = <T>(method: string, path: string, body?: object): Promise<Answer<T>> =>
      callConsole<T>({ ...server, url: loud.url }, method, path, { headers, body });

    const applications = `/accounts/${accountId}/applications`;
    const keys = `${applications}/${applicationId}/keys`;
    const made = await call<NewKeyView>('POST', keys, { label: 'Server' });
    const { id, key } = made.body;
    expect(isApiKey(key)).toBe(true);
    expect(key).toMatch(/^ak_live_/);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const later = [
      await call('GET', keys),
      await call('GET', applications),
      await call('POST', `${keys}/${id}/revoke`),
      await call('GET', keys),
    ];
    await loud.started.stop();

    // The hint shows its ends; what lies between would be enough to guess the rest.
    const secret = key.slice('ak_live_'.length + 4, -4);
    const tables = [...(await tableContents(server.db)).values()].join('\n');
    expect(tables).toContain(id);
    expect(tables).not.toContain(secret);
    expect(later.map(({ status }) => status)).toEqual([200, 200, 204, 200]);
    expect(JSON.stringify(later.map(({ body }) => body))).not.toContain(secret);
    expect(loud.started.output()).toContain('/applications/:application/keys');
    expect(loud.started.output()).not.toContain(secret);
  });
});
