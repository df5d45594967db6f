import {
  blockSender,
  buildCaller,
  buildSend,
  buildSender,
  recipientKeysOf,
  TEST_SECRET_KEY,
  type TestCaller,
} from '@onecode/testing';
import * as store from './storeFunctions.js';

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

/** The objects that these tests change. */
export interface Fixture {
  database: store.Database;
  caller: TestCaller;
  sender: store.Sender;
  /** A person without an account. */
  guest: Guest;
}

/** An audited change. Repeating it changes nothing, unless `isRepeatable` is set. */
interface AuditedChange {
  action: string;
  /** The id or address of the changed object. The tests also call the change with an id or address that does not exist. */
  of?: Of;
  change: (fixture: Fixture, of: string) => Promise<unknown>;
  /** The actions of the other changes that this change includes. */
  also?: readonly string[];
  /** Runs before the change. */
  given?: (fixture: Fixture) => Promise<unknown>;
  isRepeatable?: true;
  /** Other calls that change nothing. */
  changesNothing?: (fixture: Fixture) => Promise<unknown>;
}

type Of = (fixture: Fixture) => string;

/** Changes by functions of the store with an id or address after the actor. */
const changeOf =
  (of: Of) =>
  <Rest extends unknown[]>(
    action: string,
    by: (database: store.Database, actor: typeof ACTOR, of: string, ...rest: Rest) => Promise<unknown>,
    ...rest: Rest
  ): AuditedChange => ({ action, of, change: ({ database }, id) => by(database, ACTOR, id, ...rest) });

/** A change by a function that has no id or address after the actor. */
const changeBy = <Rest extends unknown[]>(
  action: string,
  by: (database: store.Database, actor: typeof ACTOR, ...rest: Rest) => Promise<unknown>,
  ...rest: Rest
): AuditedChange => ({ action, change: ({ database }) => by(database, ACTOR, ...rest) });

const accountOf: Of = ({ caller }) => caller.accountId;
const senderOf: Of = ({ sender }) => sender.id;
const ofAccount = changeOf(accountOf);
const ofApplication = changeOf(({ caller }) => caller.applicationId);
const ofSender = changeOf(senderOf);
const ofGuest = changeOf(({ guest }) => guest.id);
const ofEmail = changeOf(({ guest }) => guest.email);
const ofPasskey = changeOf(() => PASSKEY);

export async function buildFixture(database: store.Database): Promise<Fixture> {
  const caller = await buildCaller(database, 'live');
  const guest = await buildPeople(database, caller);
  return { database, caller, sender: await buildSender(database), guest };
}

/** Makes the actor the only admin of the caller's account, and creates a person without an account. */
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
const INCIDENT = store.newId();
const PASSKEY = store.newId();
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
      recipientKey: RECIPIENT_KEYS[0]!,
      points: 9,
      lastWrongAt: new Date(),
    },
  });

const setWebhook = ({ database }: Fixture, accountId: string) =>
  store.setEventWebhook(
    database,
    ACTOR,
    TEST_SECRET_KEY,
    accountId,
    'https://hooks.example.com/planted-path',
  );
const givenWebhook = (fixture: Fixture) => setWebhook(fixture, fixture.caller.accountId);
const givenSend = ({ database, caller }: Fixture) => buildSend(database, caller, { recipient: RECIPIENT });
const assign = ({ database, caller: { accountId } }: Fixture, senderId: string, applicationId: string) =>
  store.assignSender(database, ACTOR, senderId, { accountId, applicationIds: [applicationId] });

let removed = '';
const newAccount = { name: 'Ana', language: 'en', freeQuota: null, credits: 3, ratePerMinute: null } as const;

/** The changes by operators and integrators, by function name. */
const OPERATOR_CHANGES: Record<string, AuditedChange> = {
  createAccount: { ...changeBy('account.create', store.createAccount, newAccount), isRepeatable: true },
  grantCredits: { ...ofAccount('account.credit', store.grantCredits, 25, 'invoice 7'), isRepeatable: true },
  changeAccount: ofAccount('account.change', store.changeAccount, { name: 'Bia', breaker: rule }),
  setSuspension: ofAccount('account.suspend', store.setSuspension, 'unpaid'),
  setBalanceAlert: ofAccount('account.balance_alert', store.setBalanceAlert, 100),
  resetBreaker: {
    ...ofAccount('account.reset_breaker', store.resetBreaker),
    given: async ({ database, caller: { accountId } }) => {
      await store.changeAccount(database, ACTOR, accountId, { breaker: rule });
      const evidence = { country: 'BR', rule, sends: 60, unverified: 59 };
      await store.tripBreaker(database, { accountId, ...evidence });
    },
  },
  resetGuessBudgets: {
    ...ofAccount('account.reset_recipient', store.resetGuessBudgets, { id: BUDGET }),
    given: guessedAt,
  },
  createApplication: {
    action: 'application.create',
    of: accountOf,
    isRepeatable: true,
    change: ({ database }, accountId) =>
      store.createApplication(database, ACTOR, { accountId, name: 'Shop', mode: 'test' }),
  },
  changeApplication: ofApplication('application.change', store.changeApplication, { perMinute: 60 }),
  forgetIdentity: {
    ...ofApplication('application.forget_identity', store.forgetIdentity, RECIPIENT_KEYS),
    given: async (fixture) => {
      const sendId = await givenSend(fixture);
      const { database, caller } = fixture;
      await database.sql.execute`
        insert into send_identities (send_id, application_id, recipient_key, identity_hash, has_changed)
        values (${sendId}::uuid, ${caller.applicationId}::uuid, ${RECIPIENT_KEYS[0]}, 'DF2lS5v2W6x=', false)`;
    },
  },
  setEventWebhook: { action: 'webhook.set', of: accountOf, change: setWebhook },
  rotateEventSecret: {
    action: 'webhook.rotate_secret',
    of: accountOf,
    isRepeatable: true,
    given: givenWebhook,
    change: ({ database }, id) => store.rotateEventSecret(database, ACTOR, TEST_SECRET_KEY, id),
  },
  removeEventWebhook: { ...ofAccount('webhook.remove', store.removeEventWebhook), given: givenWebhook },
  deleteAccount: ofAccount('account.delete', store.deleteAccount, 'contract ended'),
  scheduleDeletion: ofAccount('account.schedule_deletion', store.scheduleDeletion),
  cancelDeletion: {
    ...ofAccount('account.cancel_deletion', store.cancelDeletion),
    given: ({ database, caller }) => store.scheduleDeletion(database, ACTOR, caller.accountId),
  },
  exportRecipient: {
    action: 'recipient.export',
    of: accountOf,
    isRepeatable: true,
    given: givenSend,
    change: ({ database }, id) => store.exportRecipient(database, ACTOR, RECIPIENT_KEYS, id),
  },
  eraseRecipient: {
    action: 'recipient.erase',
    of: accountOf,
    given: givenSend,
    change: ({ database }, id) => store.eraseRecipient(database, ACTOR, RECIPIENT_KEYS, id, 'Request 17'),
  },
  createApiKey: { ...ofApplication('key.create', store.createApiKey), isRepeatable: true },
  logTriedSend: {
    action: 'application.try_send',
    isRepeatable: true,
    change: ({ database, caller: { applicationId: id, accountId, mode } }) =>
      store.logTriedSend(database, ACTOR, { id, accountId, mode }, RECIPIENT),
  },
  revokeApiKey: changeOf(({ caller }) => caller.keyId)('key.revoke', store.revokeApiKey),
  changeSettings: {
    action: 'settings.change',
    given: ({ database }) => store.changeSettings(database, ACTOR, { freeSends: 10 }),
    change: ({ database }) => store.changeSettings(database, ACTOR, { freeSends: 11 }),
  },
  setMessagePrice: changeBy('settings.price', store.setMessagePrice, {
    country: 'BR',
    since: '2026-11',
    price: 0.0068,
    currency: 'USD',
  }),
  addSender: {
    action: 'sender.add',
    change: ({ database, sender }) =>
      store.addSender(database, ACTOR, TEST_SECRET_KEY, {
        ...added,
        phoneNumberId: `${sender.phoneNumberId}0`,
      }),
  },
  pauseSender: ofSender('sender.pause', store.pauseSender),
  resumeSender: {
    ...ofSender('sender.resume', store.resumeSender),
    given: ({ database, sender }) => blockSender(database, sender, { onlyFor: 'BR' }),
  },
  editSender: {
    ...ofSender('sender.edit', store.editSender, {
      throughput: 500,
      secrets: { keyring: TEST_SECRET_KEY, token: TOKEN, appSecret: 'a'.repeat(32) },
    }),
    isRepeatable: true,
  },
  noteSenderSetup: {
    action: 'sender.setup',
    of: senderOf,
    isRepeatable: true,
    change: ({ database }, id) =>
      store.noteSenderSetup(database, ACTOR, id, 'sender.setup', { stepsDone: ['registration'] }),
  },
  assignSender: {
    action: 'sender.assign',
    of: senderOf,
    change: (fixture, id) => assign(fixture, id, fixture.caller.applicationId),
    changesNothing: (fixture) =>
      assign(fixture, fixture.sender.id, fixture.sender.id).catch((error: unknown) => error),
  },
  removeSender: {
    ...changeOf(() => removed)('sender.remove', store.removeSender),
    given: async ({ database }) => {
      removed = (await buildSender(database)).id;
    },
  },
  reencryptTokens: changeBy('sender.reencrypt', store.reencryptTokens, otherKey),
  acknowledgeIncident: {
    action: 'incident.acknowledge',
    of: () => INCIDENT,
    isRepeatable: true,
    given: ({ database }) =>
      database.prisma.incident.create({
        data: { id: INCIDENT, name: 'no_workers', subject: '', finding: {} },
      }),
    change: ({ database }, id) => store.acknowledgeIncident(database, ACTOR, id, 'looking'),
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
/** The tokens of all created links. */
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

/** Invites a person to the caller's account, and keeps the link's token. */
async function invite(
  fixture: Fixture,
  actor: store.Actor & { id: string },
  email: string,
): Promise<unknown> {
  const { database, caller } = fixture;
  const invited = {
    accountId: caller.accountId,
    email,
    role: 'developer',
    network: '198.18.0.0/24',
  } as const;
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

/** The changes of people, teams and credentials, by function name. */
const USER_CHANGES: Record<string, AuditedChange> = {
  createUser: {
    action: 'user.create',
    change: ({ database, guest }) =>
      store.createUser(database, ACTOR, { ...newUser, email: `new-${guest.email}` }),
  },
  changeUser: ofGuest('user.change', store.changeUser, { name: 'Gal' }),
  setStaffRole: {
    ...ofEmail('user.staff', store.setStaffRole, 'on_call', { isVouchedFor: true }),
    also: ['user.password'],
  },
  setPassword: { ...ofEmail('user.password', store.setPassword, PASSWORD), isRepeatable: true },
  removeTwoFactor: { ...ofEmail('user.two_factor_removed', store.removeTwoFactor), isRepeatable: true },
  signOutEverywhere: { ...ofEmail('user.sign_out_everywhere', store.signOutEverywhere), isRepeatable: true },
  renamePasskey: { ...ofPasskey('user.passkey_renamed', store.renamePasskey, 'Phone'), given: givenPasskey },
  removePasskey: { ...ofPasskey('user.passkey_removed', store.removePasskey, none), given: givenPasskey },
  logOwnSecurityChange: {
    ...changeBy('user.password', store.logOwnSecurityChange, 'user.password'),
    isRepeatable: true,
  },
  logSignIn: { ...changeBy('user.sign_in', store.logSignIn, none, GIVEN), isRepeatable: true },
  logSignOut: { ...changeBy('user.sign_out', store.logSignOut), isRepeatable: true },
  confirmSession: { ...changeBy('user.confirm', store.confirmSession, none, GIVEN), isRepeatable: true },
  logFailedConfirmation: {
    ...changeBy('user.confirm_failed', store.logFailedConfirmation, GIVEN),
    isRepeatable: true,
  },
  logRead: {
    ...changeBy('send.read', store.logRead, READ),
    given: ({ database }) => database.prisma.countedTries.deleteMany(),
  },
  muteMails: changeBy('user.mute_mails', store.muteMails, ['low_balance']),
  endOtherSessions: {
    ...changeBy('user.sign_out_elsewhere', store.endOtherSessions, none),
    given: ({ database }) =>
      database.prisma.userSession.create({
        data: { id: store.newId(), userId: ACTOR.id, token: store.newId(), expiresAt: new Date() },
      }),
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
      // An existing member, and an inviter who is not an admin.
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
    of: ({ guest }) => guest.id,
    given: (fixture) => join(fixture),
    change: ({ database, caller: { accountId } }, userId) =>
      store.changeMemberRole(database, ACTOR, { accountId, userId, role: 'developer' }),
    // The last admin.
    changesNothing: ({ database, caller: { accountId } }) =>
      store.changeMemberRole(database, ACTOR, { accountId, userId: ACTOR.id, role: 'viewer' }),
  },
  removeMember: {
    action: 'member.remove',
    of: ({ guest }) => guest.id,
    given: (fixture) => join(fixture),
    change: ({ database, caller: { accountId } }, userId) =>
      store.removeMember(database, ACTOR, { accountId, userId }),
    changesNothing: ({ database, caller: { accountId } }) =>
      store.removeMember(database, ACTOR, { accountId, userId: ACTOR.id }),
  },
};

export const CHANGES: Record<string, AuditedChange> = { ...OPERATOR_CHANGES, ...USER_CHANGES };
