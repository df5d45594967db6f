import { readFileSync } from 'node:fs';
import { useTestDatabase } from '@onecode/testing';
import {
  ACTOR,
  ADDED_NUMBER,
  buildFixture,
  CHANGES,
  PASSWORD,
  RECIPIENT,
  TOKEN,
  TOKENS,
  type Fixture,
} from './changes.js';
import * as store from './storeFunctions.js';

const db = useTestDatabase();
let fixture: Fixture;
beforeEach(async () => {
  await db.sql('delete from members');
  fixture = await buildFixture(db.database);
});

const entries = () => store.listAuditEntries(db.database, { limit: 1_000 });
/** Returns the entries that `change` writes, newest first. */
async function entriesOf(work: () => Promise<unknown>): Promise<store.AuditEntry[]> {
  const [last] = await entries();
  await work();
  return (await entries()).filter(({ id }) => BigInt(id) > BigInt(last?.id ?? 0));
}

describe('the audit log', () => {
  it('is tested with every function that takes an actor', () => {
    const audited = Object.entries(store)
      .filter(
        ([, one]) =>
          typeof one === 'function' && /^(?:async )?function \w+\(database, actor\b/.test(one.toString()),
      )
      .map(([name]) => name)
      // These only serve the others.
      .filter((name) => !['audited', 'logEntry', 'changeAccountRow'].includes(name));
    expect(audited.toSorted()).toEqual(Object.keys(CHANGES).toSorted());
  });

  it.each(Object.entries(CHANGES))(
    'has the entries of %s, and no entry if nothing changes',
    async (_, by) => {
      await by.given?.(fixture);
      const of = by.of?.(fixture) ?? '';
      const logged = (await entriesOf(() => by.change(fixture, of))).toReversed();
      expect(logged.map(({ action }) => action)).toEqual([by.action, ...(by.also ?? [])]);
      for (const { actor, at } of logged) {
        expect(actor).toEqual(ACTOR);
        expect(Math.abs(Date.now() - at.getTime())).toBeLessThan(60_000);
      }
      const nothing = async (): Promise<void> => {
        if (by.of !== undefined) await by.change(fixture, store.newId());
        if (by.isRepeatable !== true) await by.change(fixture, of);
        await by.changesNothing?.(fixture);
      };
      expect(await entriesOf(nothing)).toEqual([]);
    },
  );

  it('contains the state before and after a change, and the account', async () => {
    const { database, caller } = fixture;
    const { accountId } = caller;
    await store.changeAccount(database, ACTOR, accountId, { name: 'Loja Azul', ratePerMinute: 7 });
    await store.grantCredits(database, ACTOR, accountId, 25, 'invoice 7');
    await store.revokeApiKey(database, ACTOR, caller.keyId);
    const found = await store.listAuditEntries(database, { accountId, limit: 3 });
    expect(found).toMatchObject([
      { action: 'key.revoke', accountId, accountName: 'Loja Azul', subject: caller.keyId },
      {
        action: 'account.credit',
        details: { amount: 25, reason: 'invoice 7', before: { credits: 0 }, after: { credits: 25 } },
      },
      {
        action: 'account.change',
        details: {
          before: { name: 'Test account', ratePerMinute: null },
          after: { name: 'Loja Azul', ratePerMinute: 7 },
        },
      },
    ]);
    expect(found[0]!.details).toMatchObject({ hint: expect.any(String) });
  });

  it.each([
    'update audit_entries set actor_name = $$unknown$$',
    'delete from audit_entries',
    'truncate audit_entries',
  ])('cannot be changed: %s', async (statement) => {
    const before = await entries();
    expect(before.length).toBeGreaterThan(0);
    await expect(db.sql(statement)).rejects.toThrow('the audit log is append-only');
    expect(await entries()).toEqual(before);
  });

  it('has no entry of a failed change', async () => {
    const { database, caller, sender } = fixture;
    const failing = async () => {
      await expect(store.grantCredits(database, ACTOR, caller.accountId, -5, 'wrong')).rejects.toThrow();
      await expect(store.editSender(database, ACTOR, sender.id, { throughput: 1_001 })).rejects.toThrow();
    };
    expect(await entriesOf(failing)).toEqual([]);
  });

  it('makes a change fail if its entry cannot be written', async () => {
    const { database, caller } = fixture;
    const unknownActor = { ...ACTOR, kind: 'unknown' as 'user' };
    await expect(
      store.grantCredits(database, unknownActor, caller.accountId, 25, 'unseen'),
    ).rejects.toThrow();
    expect(await store.findAccount(database, caller.accountId)).toMatchObject({ credits: 0 });
  });
});

/** Returns the names of the fields in details: of the changed ones and of all others. */
const fieldsOf = (details: Record<string, unknown>): string[] =>
  Object.entries(details).flatMap(([field, value]) => {
    if (field === 'before' || field === 'after')
      return typeof value === 'object' && value !== null ? Object.keys(value) : [];
    return [field];
  });

// Must run after the tests of all changes.
it('the audit log has only fields that the console can display', async () => {
  const path = '../../../../apps/console/web/src/locales/en/audit.json';
  const texts = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as {
    fields: Record<string, string>;
  };
  const fields = new Set((await entries()).flatMap(({ details }) => fieldsOf(details)));
  expect(fields.size).toBeGreaterThan(20);
  expect([...fields].filter((field) => texts.fields[field] === undefined)).toEqual([]);
});

it('the audit log contains no secrets after any change', async () => {
  const made = (await store.createApiKey(db.database, ACTOR, fixture.caller.applicationId))!;
  const [{ text }] = (await db.sql<{ text: string }>(
    'select string_agg(audit_entries::text, chr(10)) as text from audit_entries',
  )) as [{ text: string }];
  expect(text).toContain(RECIPIENT.slice(-4));
  for (const { action } of Object.values(CHANGES)) expect(text).toContain(action);
  expect(TOKENS.length).toBeGreaterThan(0);
  for (const secret of [
    ...TOKENS,
    PASSWORD,
    TOKEN,
    made.key,
    made.key.slice('ak_live_'.length),
    fixture.caller.key,
    RECIPIENT.slice(1),
    fixture.sender.number.slice(1),
    ADDED_NUMBER.slice(1),
  ])
    expect(text).not.toContain(secret);
});
