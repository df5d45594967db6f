import * as store from '@onecode/store';
import { buildSend, TEST_SECRET_KEY } from '@onecode/testing';
import { ACTOR, type AuditedChange, type Fixture } from './fixture.js';

export const TOKEN = 'EAAGplantedTokenOfTheAuditLog';
export const RECIPIENT = '+5511987651234';
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
      recipient: RECIPIENT,
      wrongInARow: 9,
      lastWrongAt: new Date(),
    },
  });

const visit = (database: store.Database, { applicationId }: { applicationId: string }) =>
  store.keyOfVisit(database, ACTOR, TEST_SECRET_KEY, { userId: ACTOR.id, applicationId });

const accountOf = ({ caller }: Fixture): string => caller.accountId;
const applicationOf = ({ caller }: Fixture): string => caller.applicationId;
const senderOf = ({ sender }: Fixture): string => sender.id;

/** The changes of operators and integrators, by the names of their functions. */
export const OPERATOR_CHANGES: Record<string, AuditedChange> = {
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
  setBreaker: {
    action: 'account.set_breaker',
    of: accountOf,
    change: ({ database }, id) => store.setBreaker(database, ACTOR, id, rule),
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
    change: ({ database }, id) => store.resetGuessCount(database, ACTOR, id, RECIPIENT),
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
        insert into send_identities (send_id, application_id, canonical_recipient, identity_hash, has_changed)
        values (${sendId}::uuid, ${caller.applicationId}::uuid, ${RECIPIENT}, 'DF2lS5v2W6x=', false)`;
    },
    change: ({ database }, id) => store.forgetIdentity(database, ACTOR, id, RECIPIENT),
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
    given: ({ database, sender }) =>
      store.blockCountry(database, { senderId: sender.id, country: 'BR', seconds: 60, errorCode: null }),
    change: ({ database }, id) => store.resumeSender(database, ACTOR, id),
  },
  changeThroughput: {
    action: 'sender.change_throughput',
    of: senderOf,
    change: ({ database }, id) => store.changeThroughput(database, ACTOR, id, 500),
  },
  setSenderToken: {
    action: 'sender.set_token',
    of: senderOf,
    isRepeatable: true,
    change: ({ database }, id) => store.setSenderToken(database, ACTOR, TEST_SECRET_KEY, id, TOKEN),
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
