import * as store from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  recipientKeysOf,
  stopSender,
  TEST_SECRET_KEY,
  type TestCaller,
} from '@onecode/testing';

/** The actor of all changes in these tests. */
export const ACTOR = {
  kind: 'user',
  id: '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f',
  name: 'Olga Operator',
} as const satisfies store.Actor;
const EMAIL = 'olga@example.com';

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
interface AuditedChange {
  action: string;
  /** The id, or the address, of what it changes; another one is of nothing. */
  of?: (fixture: Fixture) => string;
  change: (fixture: Fixture, of: string) => Promise<unknown>;
  /** The actions of other changes that it makes as well. */
  also?: readonly string[];
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

export const TOKEN = 'EAAGplantedTokenOfTheAuditLog';
export const RECIPIENT = '+5511987651234';
const RECIPIENT_KEYS = recipientKeysOf(RECIPIENT);
export const ADDED_NUMBER = '+15550783881';

const BUDGET = store.newId();
const rule = { unverifiedPercent: 90, minSends: 50 };
const added = {
  number: ADDED_NUMBER,
  token: TOKEN,
  template: 'code',
  englishTemplateLanguage: 'en',
} as const;
const otherKey = { current: 2, keys: new Map([...TEST_SECRET_KEY.keys, [2, Buffer.alloc(32, 7)]]) };
const hold = (target: string) => ({ kind: 'account', target, reason: 'pumped' }) as const;

const guessedAt = ({ database, caller: { accountId } }: Fixture): Promise<unknown> =>
  database.prisma.guessBudget.create({
    data: {
      id: BUDGET,
      accountId,
      mode: 'live',
      recipientKey: RECIPIENT_KEYS[0]!,
      points: 9,
      lastWrongAt: new Date(),
    },
  });

const visit = (database: store.Database, { applicationId }: { applicationId: string }) =>
  store.keyOfVisit(database, ACTOR, TEST_SECRET_KEY, { userId: ACTOR.id, applicationId });

const WEBHOOK = 'https://hooks.example.com/planted-path';
const webhookOf = ({ database, caller }: Fixture) =>
  store.setEventWebhook(database, ACTOR, TEST_SECRET_KEY, caller.accountId, WEBHOOK);
const accountOf = ({ caller }: Fixture): string => caller.accountId;
const applicationOf = ({ caller }: Fixture): string => caller.applicationId;
let removed = '';
const senderOf = ({ sender }: Fixture): string => sender.id;

/** The changes of operators and integrators, by the names of their functions. */
const OPERATOR_CHANGES: Record<string, AuditedChange> = {
  createAccount: {
    action: 'account.create',
    isRepeatable: true,
    change: ({ database }) =>
      store.createAccount(database, ACTOR, {
        name: 'Ana',
        language: 'en',
        freeQuota: null,
        credits: 3,
        ratePerMinute: null,
      }),
  },
  grantCredits: {
    action: 'account.credit',
    of: accountOf,
    isRepeatable: true,
    change: ({ database }, id) => store.grantCredits(database, ACTOR, id, 25, 'invoice 7'),
  },
  changeAccount: {
    action: 'account.change',
    of: accountOf,
    change: ({ database }, id) =>
      store.changeAccount(database, ACTOR, id, { ratePerMinute: 5, weight: 3, name: 'Bia' }),
  },
  suspendAccount: {
    action: 'account.suspend',
    of: accountOf,
    change: ({ database }, id) => store.suspendAccount(database, ACTOR, id, 'unpaid'),
  },
  resumeAccount: {
    action: 'account.resume',
    of: accountOf,
    given: ({ database, caller }) => store.suspendAccount(database, ACTOR, caller.accountId, 'unpaid'),
    change: ({ database }, id) => store.resumeAccount(database, ACTOR, id),
  },
  allowCountries: {
    action: 'account.allow_countries',
    of: accountOf,
    change: ({ database }, id) => store.allowCountries(database, ACTOR, id, ['BR']),
  },
  allowCostly: {
    action: 'account.allow_costly',
    of: accountOf,
    change: ({ database }, id) => store.allowCostly(database, ACTOR, id, false),
  },
  setCeilings: {
    action: 'account.set_ceilings',
    of: accountOf,
    change: ({ database }, id) => store.setCeilings(database, ACTOR, id, { unitsPerDay: 100 }),
  },
  setBreaker: {
    action: 'account.set_breaker',
    of: accountOf,
    change: ({ database }, id) => store.setBreaker(database, ACTOR, id, rule),
  },
  setBalanceAlert: {
    action: 'account.balance_alert',
    of: accountOf,
    change: ({ database }, id) => store.setBalanceAlert(database, ACTOR, id, 100),
  },
  resetBreaker: {
    action: 'account.reset_breaker',
    of: accountOf,
    given: async ({ database, caller: { accountId } }) => {
      await store.setBreaker(database, ACTOR, accountId, rule);
      const evidence = { country: 'BR', rule, lastOpenUntil: null, sends: 60, unverified: 59, denying: 0 };
      await store.tripBreaker(database, { accountId, ...evidence }, 3_600);
    },
    change: ({ database }, id) => store.resetBreaker(database, ACTOR, id),
  },
  resetGuessCount: {
    action: 'account.reset_recipient',
    of: accountOf,
    given: guessedAt,
    change: ({ database }, id) => store.resetGuessCount(database, ACTOR, id, RECIPIENT_KEYS),
  },
  resetRecipient: {
    action: 'account.reset_recipient',
    of: accountOf,
    given: guessedAt,
    change: ({ database }, id) => store.resetRecipient(database, ACTOR, id, BUDGET),
  },
  createApplication: {
    action: 'application.create',
    of: accountOf,
    isRepeatable: true,
    change: ({ database }, accountId) =>
      store.createApplication(database, ACTOR, { accountId, name: 'Shop', mode: 'test' }),
  },
  limitApplication: {
    action: 'application.limit',
    of: applicationOf,
    change: ({ database }, id) => store.limitApplication(database, ACTOR, id, { perMinute: 60 }),
  },
  setIdentityCheck: {
    action: 'application.set_identity_check',
    of: applicationOf,
    change: ({ database }, id) => store.setIdentityCheck(database, ACTOR, id, 'observe'),
  },
  forgetIdentity: {
    action: 'application.forget_identity',
    of: applicationOf,
    given: async ({ database, caller }) => {
      const sendId = await buildSend(database, caller, { recipient: RECIPIENT });
      await database.sql.execute`
        insert into send_identities (send_id, application_id, recipient_key, identity_hash, has_changed)
        values (${sendId}::uuid, ${caller.applicationId}::uuid, ${RECIPIENT_KEYS[0]}, 'DF2lS5v2W6x=', false)`;
    },
    change: ({ database }, id) => store.forgetIdentity(database, ACTOR, id, RECIPIENT_KEYS),
  },
  setEventWebhook: {
    action: 'webhook.set',
    of: accountOf,
    change: async ({ database }, id) => {
      const set = await store.setEventWebhook(database, ACTOR, TEST_SECRET_KEY, id, WEBHOOK);
      return set === 'unknown' ? null : set;
    },
  },
  rotateEventSecret: {
    action: 'webhook.rotate_secret',
    of: accountOf,
    isRepeatable: true,
    given: webhookOf,
    change: ({ database }, id) => store.rotateEventSecret(database, ACTOR, TEST_SECRET_KEY, id),
  },
  removeEventWebhook: {
    action: 'webhook.remove',
    of: accountOf,
    given: webhookOf,
    change: ({ database }, id) => store.removeEventWebhook(database, ACTOR, id),
  },
  deleteAccount: {
    action: 'account.delete',
    of: accountOf,
    change: ({ database }, id) => store.deleteAccount(database, ACTOR, id, 'contract ended'),
  },
  scheduleDeletion: {
    action: 'account.schedule_deletion',
    of: accountOf,
    change: ({ database }, id) => store.scheduleDeletion(database, ACTOR, id),
  },
  cancelDeletion: {
    action: 'account.cancel_deletion',
    of: accountOf,
    given: ({ database, caller }) => store.scheduleDeletion(database, ACTOR, caller.accountId),
    change: ({ database }, id) => store.cancelDeletion(database, ACTOR, id),
  },
  exportRecipient: {
    action: 'recipient.export',
    of: accountOf,
    isRepeatable: true,
    given: ({ database, caller }) => buildSend(database, caller, { recipient: RECIPIENT }),
    change: ({ database }, id) => store.exportRecipient(database, ACTOR, RECIPIENT_KEYS, id),
  },
  eraseRecipient: {
    action: 'recipient.erase',
    of: accountOf,
    given: ({ database, caller }) => buildSend(database, caller, { recipient: RECIPIENT }),
    change: ({ database }, id) => store.eraseRecipient(database, ACTOR, RECIPIENT_KEYS, id, 'Request 17'),
  },
  renameApplication: {
    action: 'application.rename',
    of: accountOf,
    change: ({ database, caller }, id) =>
      store.renameApplication(database, ACTOR, id, caller.applicationId, 'Loja'),
  },
  createApiKey: {
    action: 'key.create',
    of: applicationOf,
    isRepeatable: true,
    change: ({ database }, id) => store.createApiKey(database, ACTOR, id),
  },
  keyOfVisit: {
    action: 'key.create',
    change: ({ database, caller }) => visit(database, caller),
    changesNothing: ({ database }) => visit(database, { applicationId: store.newId() }),
  },
  logTriedSend: {
    action: 'application.try_send',
    isRepeatable: true,
    change: ({ database, caller: { applicationId: id, accountId, mode } }) =>
      store.logTriedSend(database, ACTOR, { id, accountId, mode }, RECIPIENT),
  },
  revokeApiKey: {
    action: 'key.revoke',
    of: ({ caller }) => caller.keyId,
    change: ({ database }, id) => store.revokeApiKey(database, ACTOR, id),
  },
  changeSetting: {
    action: 'settings.change',
    given: ({ database }) => store.changeSetting(database, ACTOR, 'freeSends', 10),
    change: ({ database }) => store.changeSetting(database, ACTOR, 'freeSends', 11),
  },
  setMessagePrice: {
    action: 'settings.price',
    change: ({ database }) =>
      store.setMessagePrice(database, ACTOR, {
        country: 'BR',
        since: '2026-11',
        price: 0.0068,
        currency: 'USD',
      }),
  },
  addSender: {
    action: 'sender.add',
    change: ({ database, sender }) =>
      store.addSender(database, ACTOR, TEST_SECRET_KEY, {
        ...added,
        phoneNumberId: `${sender.phoneNumberId}0`,
      }),
  },
  pauseSender: {
    action: 'sender.pause',
    of: senderOf,
    change: ({ database }, id) => store.pauseSender(database, ACTOR, id),
  },
  resumeSender: {
    action: 'sender.resume',
    of: senderOf,
    given: ({ database, sender }) => stopSender(database, sender, { onlyFor: 'BR' }),
    change: ({ database }, id) => store.resumeSender(database, ACTOR, id),
  },
  editSender: {
    action: 'sender.edit',
    of: senderOf,
    change: ({ database }, id) => store.editSender(database, ACTOR, id, { throughput: 500 }),
  },
  assignSender: {
    action: 'sender.assign',
    of: senderOf,
    change: ({ database, caller: { accountId, applicationId } }, id) =>
      store.assignSender(database, ACTOR, id, { accountId, applicationIds: [applicationId] }),
    changesNothing: ({ database, caller, sender }) =>
      store
        .assignSender(database, ACTOR, sender.id, {
          accountId: caller.accountId,
          applicationIds: [sender.id],
        })
        .catch((error: unknown) => error),
  },
  removeSender: {
    action: 'sender.remove',
    given: async ({ database }) => {
      removed = (await buildSender(database)).id;
    },
    of: () => removed,
    change: ({ database }, id) => store.removeSender(database, ACTOR, id),
  },
  setSenderToken: {
    action: 'sender.set_token',
    of: senderOf,
    isRepeatable: true,
    change: ({ database }, id) => store.setSenderToken(database, ACTOR, TEST_SECRET_KEY, id, TOKEN),
  },
  setAppSecret: {
    action: 'sender.set_app_secret',
    of: senderOf,
    isRepeatable: true,
    change: ({ database }, id) => store.setAppSecret(database, ACTOR, TEST_SECRET_KEY, id, 'a'.repeat(32)),
  },
  resealTokens: {
    action: 'sender.reseal',
    change: ({ database }) => store.resealTokens(database, ACTOR, otherKey),
  },
  placeHold: {
    action: 'hold.set',
    of: accountOf,
    change: ({ database }, id) => store.placeHold(database, ACTOR, hold(id)),
  },
  releaseHold: {
    action: 'hold.release',
    of: accountOf,
    given: ({ database, caller }) => store.placeHold(database, ACTOR, hold(caller.accountId)),
    change: ({ database }, id) => store.releaseHold(database, ACTOR, hold(id)),
  },
};

export const PASSWORD = 'leaked-password-of-the-audit-log';
/** The tokens of all links that were made. */
export const TOKENS: string[] = [];

const none = store.newId();
const GIVEN = { proof: 'password', clientAddress: '198.51.100.7' } as const;
const READ = { action: 'send.read', accountId: null, subject: none } as const;
const newUser = { name: 'Nina', language: 'en', staff: null, password: PASSWORD, membership: null } as const;

const join = (
  { database, caller: { accountId }, guest }: Fixture,
  role: store.MemberRole = 'viewer',
): Promise<unknown> => database.prisma.member.create({ data: { accountId, userId: guest.id, role } });
const leave = ({ database }: Fixture): Promise<unknown> =>
  database.prisma.member.deleteMany({ where: { userId: ACTOR.id } });

/** Invites somebody to the caller's account, and keeps the token of the link. */
async function invite(
  fixture: Fixture,
  actor: store.Actor & { id: string },
  email: string,
): Promise<unknown> {
  const { database, caller } = fixture;
  const invited = { accountId: caller.accountId, email, role: 'developer' } as const;
  const mail = { keyring: TEST_SECRET_KEY, page: 'https://console.example.test/invitation' };
  const made = await store.inviteMember(database, actor, invited, mail);
  if (made.kind === 'invited') TOKENS.push(made.token);
  return made;
}
const accept = ({ database }: Fixture, email: string): Promise<unknown> =>
  store.acceptInvitation(database, ACTOR, { email }, TOKENS.at(-1) as string);
async function revoke({ database, caller: { accountId } }: Fixture): Promise<unknown> {
  const [one] = await store.listInvitations(database, accountId);
  return store.revokeInvitation(database, ACTOR, accountId, one?.id ?? none);
}

const guestOf = ({ guest }: Fixture): string => guest.id;
const emailOf = ({ guest }: Fixture): string => guest.email;

const PASSKEY = store.newId();
const givenPasskey = ({ database }: Fixture): Promise<unknown> => {
  const key = {
    id: PASSKEY,
    userId: ACTOR.id,
    name: 'Key',
    credentialID: 'id',
    publicKey: 'key',
    counter: 0,
  };
  return database.prisma.userPasskey.upsert({
    where: { id: PASSKEY },
    create: { ...key, deviceType: 'singleDevice', backedUp: false },
    update: key,
  });
};

/** The changes of people, teams and what they sign in with, by the names of their functions. */
const USER_CHANGES: Record<string, AuditedChange> = {
  createUser: {
    action: 'user.create',
    change: ({ database, guest }) =>
      store.createUser(database, ACTOR, { ...newUser, email: `new-${guest.email}` }),
  },
  changeUser: {
    action: 'user.change',
    of: guestOf,
    change: ({ database }, id) => store.changeUser(database, ACTOR, id, { name: 'Gal' }),
  },
  setStaffRole: {
    action: 'user.staff',
    of: emailOf,
    change: ({ database }, email) => store.setStaffRole(database, ACTOR, email, 'on_call'),
  },
  setPassword: {
    action: 'user.password',
    of: emailOf,
    isRepeatable: true,
    change: ({ database }, email) => store.setPassword(database, ACTOR, email, PASSWORD),
  },
  removeTwoFactor: {
    action: 'user.two_factor_removed',
    of: emailOf,
    isRepeatable: true,
    change: ({ database }, email) => store.removeTwoFactor(database, ACTOR, email),
  },
  renamePasskey: {
    action: 'user.passkey_renamed',
    of: () => PASSKEY,
    given: givenPasskey,
    change: ({ database }, id) => store.renamePasskey(database, ACTOR, id, 'Phone'),
  },
  removePasskey: {
    action: 'user.passkey_removed',
    of: () => PASSKEY,
    given: givenPasskey,
    change: ({ database }, id) => store.removePasskey(database, ACTOR, id, none),
  },
  logOwnSecurityChange: {
    action: 'user.password',
    isRepeatable: true,
    change: ({ database }) => store.logOwnSecurityChange(database, ACTOR, 'user.password'),
  },
  logSignIn: {
    action: 'user.sign_in',
    isRepeatable: true,
    change: ({ database }) => store.logSignIn(database, ACTOR, none, GIVEN),
  },
  logSignOut: {
    action: 'user.sign_out',
    isRepeatable: true,
    change: ({ database }) => store.logSignOut(database, ACTOR),
  },
  confirmSession: {
    action: 'user.confirm',
    isRepeatable: true,
    change: ({ database }) => store.confirmSession(database, ACTOR, none, GIVEN),
  },
  logFailedConfirmation: {
    action: 'user.confirm_failed',
    isRepeatable: true,
    change: ({ database }) => store.logFailedConfirmation(database, ACTOR, GIVEN),
  },
  logRead: {
    action: 'send.read',
    given: ({ database }) => database.prisma.countedTries.deleteMany(),
    change: ({ database }) => store.logRead(database, ACTOR, READ),
  },
  endOtherSessions: {
    action: 'user.sign_out_elsewhere',
    given: ({ database }) =>
      database.prisma.userSession.create({
        data: { id: store.newId(), userId: ACTOR.id, token: store.newId(), expiresAt: new Date() },
      }),
    change: ({ database }) => store.endOtherSessions(database, ACTOR, none),
  },
  createOwnAccount: {
    action: 'account.create',
    also: ['application.create', 'key.create'],
    given: leave,
    change: ({ database }) =>
      store.createOwnAccount(database, ACTOR, {
        name: 'Own',
        language: 'en',
        countries: ['BR'],
        names: { application: 'Test', key: 'First key' },
      }),
  },
  inviteMember: {
    action: 'member.invite',
    isRepeatable: true,
    change: (fixture) => invite(fixture, ACTOR, fixture.guest.email),
    changesNothing: async (fixture) => {
      // A member already; and by somebody who is no admin.
      await invite(fixture, ACTOR, EMAIL);
      await invite(fixture, { ...ACTOR, id: fixture.guest.id }, 'another@example.com');
    },
  },
  revokeInvitation: {
    action: 'member.revoke_invitation',
    given: (fixture) => invite(fixture, ACTOR, fixture.guest.email),
    change: revoke,
  },
  acceptInvitation: {
    action: 'member.join',
    given: async (fixture) => {
      await leave(fixture);
      await join(fixture, 'admin');
      await invite(fixture, { ...ACTOR, id: fixture.guest.id }, EMAIL);
    },
    change: (fixture) => accept(fixture, EMAIL),
  },
  changeMemberRole: {
    action: 'member.role',
    of: guestOf,
    given: (fixture) => join(fixture),
    change: ({ database, caller: { accountId } }, userId) =>
      store.changeMemberRole(database, ACTOR, { accountId, userId, role: 'developer' }),
    // The last admin.
    changesNothing: ({ database, caller: { accountId } }) =>
      store.changeMemberRole(database, ACTOR, { accountId, userId: ACTOR.id, role: 'viewer' }),
  },
  removeMember: {
    action: 'member.remove',
    of: guestOf,
    given: (fixture) => join(fixture),
    change: ({ database, caller: { accountId } }, userId) =>
      store.removeMember(database, ACTOR, { accountId, userId }),
    changesNothing: ({ database, caller: { accountId } }) =>
      store.removeMember(database, ACTOR, { accountId, userId: ACTOR.id }),
  },
};

export const CHANGES: Record<string, AuditedChange> = { ...OPERATOR_CHANGES, ...USER_CHANGES };
