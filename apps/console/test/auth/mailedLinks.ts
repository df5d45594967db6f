import { decrypt } from '@onecode/domain';
import { TEST_SECRET_KEY } from '@onecode/testing';
import type { ConsoleEnvironment } from '../console.js';

/** Returns the links that wait in the outbox for this address, newest first. */
export async function linksTo({ db }: ConsoleEnvironment, email: string): Promise<URL[]> {
  const rows = await db.sql<{ id: string; encrypted_link: Uint8Array }>(
    'select id, encrypted_link from outbox where recipient = $1 and encrypted_link is not null order by created_at desc',
    [email],
  );
  return rows.map(({ id, encrypted_link: encrypted }) => new URL(decrypt(TEST_SECRET_KEY, id, encrypted)));
}

/** Returns the token of the newest link to this address. */
export async function tokenTo(server: ConsoleEnvironment, email: string): Promise<string> {
  const [link] = await linksTo(server, email);
  return link!.hash.slice(1).split('.')[0]!;
}
