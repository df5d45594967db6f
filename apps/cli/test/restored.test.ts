import {
  cancelDeletion,
  createApiKey,
  findAccount,
  revokeApiKey,
  scheduleDeletion,
} from '@onecode/store/accounts';
import { placeHold } from '@onecode/store/holds';
import { buildCaller, buildSend, TEST_ACTOR } from '@onecode/testing';
import { argsOf, expectFault, onecode, useCommandLine } from './onecode.js';

const commandLine = useCommandLine();
const { store, json, jsonWith } = commandLine;
type Checks = { check: string; ok: boolean | null; detail: string }[];

describe('doctor --after-restore', () => {
  it('holds live sends, prints the time of the newest change, and lists the valid keys', async () => {
    const { database } = store;
    const live = await buildCaller(database, 'live', { credits: 9 });
    const other = await createApiKey(database, TEST_ACTOR, live.applicationId);
    await revokeApiKey(database, TEST_ACTOR, other!.id);
    await buildSend(database, live);
    const [newest] = await store.sql<{ at: Date; expires: Date }>(
      'select max(l.created_at) as at, max(s.expires_at) as expires from ledger_entries l join sends s on s.id = l.send_id',
    );

    const process = (release: string) =>
      store.sql(
        `insert into processes (id, kind, release, last_migration, clock_ahead_ms) values (gen_random_uuid(), 'api', $1, '', 0)`,
        [release],
      );
    await process('0.0.1');

    const checks = await json<Checks>('doctor --after-restore');
    expect(checks).toEqual([
      { check: 'restored', ok: true, detail: `Changes after ${newest!.at.toISOString()} are lost.` },
      {
        check: 'hold_live',
        ok: true,
        detail: expect.stringMatching(
          `^Live sends are held .*; 1 wait .* released by ${newest!.expires.toISOString()} are sent again`,
        ),
      },
      {
        check: `key_${live.keyId}`,
        ok: null,
        detail: expect.stringMatching(/^ak_live_.* last used never, is valid: revoke it again/),
      },
    ]);
    // Changes after the restore do not move the time of the backup.
    await buildSend(database, live);
    await process('0.0.2');
    expect((await json<Checks>('doctor --after-restore'))[0]).toEqual(checks[0]);
    // Only processes started after the restore count as running.
    expect(await json('release list')).toMatchObject([
      { release: '0.0.2', state: 'running' },
      { release: '0.0.1', state: 'stopped' },
    ]);
    expect(await json('hold list')).toMatchObject([{ kind: 'live' }]);
  });

  it('repeats key revocations and cancelled deletions made after the backup, and lists all other changes made after it', async () => {
    const { database } = store;
    const { accountId, applicationId, keyId } = await buildCaller(database, 'live');
    await scheduleDeletion(database, TEST_ACTOR, accountId);
    const [{ last }] = (await store.sql('select max(id) as last from audit_entries')) as [{ last: string }];
    await revokeApiKey(database, TEST_ACTOR, keyId);
    const made = await createApiKey(database, TEST_ACTOR, applicationId);
    await placeHold(database, TEST_ACTOR, { kind: 'country', target: 'BR', reason: 'pumping' });
    await cancelDeletion(database, TEST_ACTOR, accountId);
    const log = await json<object[]>('audit list --limit 1000');

    // As in a restored backup, where new entries have reused the ids of lost ones.
    await store.sql('alter table audit_entries disable trigger all');
    await store.sql('delete from audit_entries where id > $1', [last]);
    await store.sql(`select setval(pg_get_serial_sequence('audit_entries', 'id'), $1)`, [last]);
    await store.sql('alter table audit_entries enable trigger all');
    await store.sql('update api_keys set revoked_at = null where id = $1', [keyId]);
    await store.sql('delete from api_keys where id = $1', [made!.id]);
    await store.sql('delete from holds');
    // The scheduled time has passed during the restore.
    await store.sql(`update accounts set delete_at = now() - interval '1 minute' where id = $1`, [accountId]);

    const restored = async (entries: object[]): Promise<Checks> =>
      (await jsonWith<Checks>(JSON.stringify(entries), 'doctor --after-restore --audit -')).slice(2);
    const expected = [
      { check: 'audit_log', ok: true },
      { ok: true, detail: expect.stringMatching(`tester: key.revoke ${keyId} .* has been repeated.$`) },
      { ok: null, detail: expect.stringMatching(`tester: key.create ${made!.id} .* is lost.$`) },
      { ok: null, detail: expect.stringMatching(/tester: hold.set BR .*"pumping".* is lost.$/) },
      {
        ok: true,
        detail: expect.stringMatching(`account.cancel_deletion ${accountId} .* has been repeated.$`),
      },
    ];
    expect(await restored(log)).toMatchObject(expected);
    expect(await json(`key list --application ${applicationId}`)).toMatchObject([
      { id: keyId, revoked_at: expect.any(String) },
    ]);
    expect(await findAccount(database, accountId)).toMatchObject({ deleteAt: null });
    expect(await restored(log)).toMatchObject(expected);

    // A file saved from the restored database shows nothing that was lost.
    expect(await restored(await json<object[]>('audit list --limit 1000'))).toMatchObject([
      { check: 'audit_log', ok: null, detail: expect.stringContaining('saved after the restore') },
      { check: expect.stringMatching(/^key_/), ok: null },
    ]);

    const args = [...argsOf(['doctor --after-restore --audit -']), '--json'];
    const short = await onecode(args, commandLine.env, JSON.stringify(log.slice(0, 3)));
    expect(short.code).toBe(1);
    expect((JSON.parse(short.stdout) as Checks)[2]).toMatchObject({ check: 'audit_log', ok: false });
    expectFault(await onecode(args, commandLine.env, '{}'), 2, '--audit must be the output');
    expectFault(await onecode(['doctor', '--audit', '-'], commandLine.env), 2, '--audit needs');
  });
});
