import type { Connection } from '../client/database.js';
import { takeAction } from '../users/outwardLimits.js';
import type { MailKind } from './mailKinds.js';
import { writeMails } from './writeMails.js';

/** Audit log actions that change a person's own security; the person gets a mail. */
const PERSONAL_MAILS: Readonly<Record<string, MailKind>> = {
  'user.password': 'password_changed',
  'user.reset_password': 'password_changed',
  'user.two_factor_turned_on': 'two_factor_on',
  'user.two_factor_turned_off': 'two_factor_off',
  'user.two_factor_removed': 'two_factor_off',
  'user.backup_codes_replaced': 'backup_codes_replaced',
  'user.passkey_added': 'passkey_added',
  'user.passkey_removed': 'passkey_removed',
};

const KEY_MAILS: Readonly<Record<string, 'key_made' | 'key_revoked'>> = {
  'key.create': 'key_made',
  'key.revoke': 'key_revoked',
};

const WEBHOOK_ACTIONS: ReadonlySet<string> = new Set([
  'webhook.set',
  'webhook.rotate_secret',
  'webhook.remove',
]);

const DELETION_MAILS: Readonly<Record<string, 'deletion_scheduled' | 'deletion_cancelled'>> = {
  'account.schedule_deletion': 'deletion_scheduled',
  'account.cancel_deletion': 'deletion_cancelled',
};

/**
 * Actions that mail all admins of an account, and that a person could repeat without end. Revoking, removing and cancelling are not
 * limited, because they end a danger, and each needs one of these actions first.
 */
const LIMITED: ReadonlySet<string> = new Set([
  'key.create',
  'webhook.set',
  'webhook.rotate_secret',
  'account.balance_alert',
  'account.schedule_deletion',
]);

/** The entry in the audit log. */
interface Entry {
  action: string;
  accountId: string | null;
  subject: string | null;
  details: Record<string, unknown>;
}

/**
 * Mails the people affected by a change of their security, keys, webhook or team, or by the deletion of their account. They cannot turn these mails off.
 *
 * @throws LimitReached if the account's members made too many such changes
 */
export async function writeSecurityNotice(
  connection: Pick<Connection, 'sql' | 'prisma'>,
  actor: { kind: string; id: string | null; name: string },
  { action, accountId, subject, details }: Entry,
  entryId: string,
): Promise<void> {
  const event = `audit ${entryId}`;
  const personalMail = PERSONAL_MAILS[action];
  if (personalMail !== undefined && subject !== null)
    return writeMails(connection, { kind: personalMail, event, facts: {} }, { userId: subject });
  if (accountId === null) return;
  if (actor.kind === 'user' && LIMITED.has(action))
    await takeAction(connection, 'change', { accountId, userId: actor.id });
  const by = actor.kind === 'user' ? actor.name : null;
  const toAll = { adminsOf: accountId, and: actor.id };
  if (WEBHOOK_ACTIONS.has(action)) {
    const { host = null } = (details['after'] ?? {}) as { host?: string };
    const facts = { host, isSecretNew: action === 'webhook.rotate_secret', by };
    return writeMails(connection, { kind: 'webhook_changed', event, facts }, toAll);
  }
  const deletionMail = DELETION_MAILS[action];
  if (deletionMail !== undefined) {
    const { deleteAt } = details['after'] as { deleteAt: Date | null };
    const facts = { deleteAt: deleteAt?.toISOString(), by };
    return writeMails(connection, { kind: deletionMail, event, facts }, toAll);
  }
  const keyMail = KEY_MAILS[action];
  if (keyMail !== undefined) {
    const { hint, applicationId } = details as { hint: string; applicationId: string };
    const application = await connection.prisma.application.findUniqueOrThrow({
      where: { id: applicationId },
      select: { name: true },
    });
    const facts = { application: application.name, hint, by };
    return writeMails(connection, { kind: keyMail, event, facts }, toAll);
  }
  if ((action === 'member.join' || action === 'user.create') && subject !== null) {
    const { role } = (details['after'] ?? {}) as { role: string };
    const { name } = await connection.prisma.user.findUniqueOrThrow({
      where: { id: subject },
      select: { name: true },
    });
    const to = { adminsOf: accountId, without: subject };
    return writeMails(connection, { kind: 'member_joined', event, facts: { name, role } }, to);
  }
}
