import * as store from '@onecode/store';
import { buildCaller, buildSender, type TestCaller } from '@onecode/testing';

/** The actor of all changes in these tests. */
export const ACTOR = {
  kind: 'user',
  id: '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f',
  name: 'Olga Operator',
} as const satisfies store.Actor;
export const EMAIL = 'olga@example.com';

interface Guest {
  id: string;
  email: string;
}

/** What the changes of these tests act on. */
export interface Fixture {
  database: store.Database;
  caller: TestCaller;
  sender: store.Sender;
  /** A person who belongs to no account. */
  guest: Guest;
}

/** A change that is audited. Made again, it changes nothing, unless it is repeatable. */
export interface AuditedChange {
  action: string;
  /** The id, or the address, of what it changes; another one is of nothing. */
  of?: (fixture: Fixture) => string;
  change: (fixture: Fixture, of: string) => Promise<unknown>;
  /** Runs before. */
  given?: (fixture: Fixture) => Promise<unknown>;
  isRepeatable?: true;
  /** Other ways in which it changes nothing. */
  changesNothing?: (fixture: Fixture) => Promise<unknown>;
}

export async function buildFixture(database: store.Database): Promise<Fixture> {
  const caller = await buildCaller(database, 'live');
  const guest = await buildPeople(database, caller);
  return { database, caller, sender: await buildSender(database), guest };
}

/** Makes the actor the only admin of the caller's account, and creates a person who belongs to none. */
async function buildPeople(database: store.Database, { accountId }: TestCaller): Promise<Guest> {
  await database.prisma.user.createMany({
    data: { id: ACTOR.id, name: ACTOR.name, email: EMAIL },
    skipDuplicates: true,
  });
  await database.prisma.member.create({ data: { accountId, userId: ACTOR.id, role: 'admin' } });
  const id = store.newId();
  const guest = { id, email: `${id}@example.com` };
  await database.prisma.user.create({ data: { ...guest, name: 'Gil Guest' } });
  return guest;
}
