import * as store from '@onecode/store';
import { buildSend, TEST_SECRET_KEY } from '@onecode/testing';
import { ACTOR, type AuditedChange } from './fixture.js';

export const TOKEN = 'EAAGplantedTokenOfTheAuditLog';
export const RECIPIENT = '+5511987651234';
export const ADDED_NUMBER = '+15550783881';

const none = store.newId();
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

const visit = (database: store.Database, { applicationId }: { applicationId: string }) =>
  store.keyOfVisit(database, ACTOR, TEST_SECRET_KEY, { userId: ACTOR.id, applicationId });

/** The changes of operators and integrators, by the names of their functions. */
export const OPERATOR_CHANGES: Record<string, AuditedChange> = {
  createAccount: {
    action: 'account.create',
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
    change: ({ database, caller }) => store.grantCredits(database, ACTOR, caller.accountId, 25, 'invoice 7'),
    changesNothing: ({ database }) => store.grantCredits(database, ACTOR, none, 25, 'invoice 7'),
  },
  changeAccount: {
    action: 'account.change',
    change: ({ database, caller }) =>
      store.changeAccount(database, ACTOR, caller.accountId, { ratePerMinute: 5, weight: 3, name: 'Bia' }),
    changesNothing: async ({ database, caller }) => {
      await store.changeAccount(database, ACTOR, none, { name: 'Bia' });
      await store.changeAccount(database, ACTOR, caller.accountId, { name: 'Bia' });
      await store.changeAccount(database, ACTOR, caller.accountId, {});
    },
  },
  suspendAccount: {
    action: 'account.suspend',
    change: ({ database, caller }) => store.suspendAccount(database, ACTOR, caller.accountId, 'unpaid'),
    changesNothing: async ({ database, caller }) => {
      await store.suspendAccount(database, ACTOR, none, 'unpaid');
      await store.suspendAccount(database, ACTOR, caller.accountId, 'another reason');
    },
  },
  resumeAccount: {
    action: 'account.resume',
    given: ({ database, caller }) => store.suspendAccount(database, ACTOR, caller.accountId, 'unpaid'),
    change: ({ database, caller }) => store.resumeAccount(database, ACTOR, caller.accountId),
    changesNothing: async ({ database, caller }) => {
      await store.resumeAccount(database, ACTOR, none);
      await store.resumeAccount(database, ACTOR, caller.accountId);
    },
  },
  allowCountries: {
    action: 'account.allow_countries',
    change: ({ database, caller }) => store.allowCountries(database, ACTOR, caller.accountId, ['BR']),
    changesNothing: async ({ database, caller }) => {
      await store.allowCountries(database, ACTOR, none, ['BR']);
      await store.allowCountries(database, ACTOR, caller.accountId, ['BR']);
    },
  },
  setBreaker: {
    action: 'account.set_breaker',
    change: ({ database, caller }) => store.setBreaker(database, ACTOR, caller.accountId, rule),
    changesNothing: async ({ database, caller }) => {
      await store.setBreaker(database, ACTOR, none, rule);
      await store.setBreaker(database, ACTOR, caller.accountId, rule);
    },
  },
  resetBreaker: {
    action: 'account.reset_breaker',
    given: async ({ database, caller: { accountId } }) => {
      await store.setBreaker(database, ACTOR, accountId, rule);
      const evidence = {
        accountId,
        country: 'BR',
        rule,
        lastOpenUntil: null,
        sends: 60,
        unverified: 59,
        denying: 0,
      };
      await store.tripBreaker(database, evidence, 3_600);
    },
    change: ({ database, caller }) => store.resetBreaker(database, ACTOR, caller.accountId),
    changesNothing: async ({ database, caller }) => {
      await store.resetBreaker(database, ACTOR, none);
      await store.resetBreaker(database, ACTOR, caller.accountId);
    },
  },
  resetGuessCount: {
    action: 'account.reset_recipient',
    given: ({ database, caller: { accountId } }) =>
      database.prisma.guessBudget.create({
        data: { accountId, mode: 'live', recipient: RECIPIENT, wrongInARow: 9, lastWrongAt: new Date() },
      }),
    change: ({ database, caller }) => store.resetGuessCount(database, ACTOR, caller.accountId, RECIPIENT),
    changesNothing: async ({ database, caller }) => {
      await store.resetGuessCount(database, ACTOR, none, RECIPIENT);
      await store.resetGuessCount(database, ACTOR, caller.accountId, RECIPIENT);
    },
  },
  resetRecipient: {
    action: 'account.reset_recipient',
    given: ({ database, caller: { accountId } }) =>
      database.prisma.guessBudget.create({
        data: {
          id: BUDGET,
          accountId,
          mode: 'live',
          recipient: RECIPIENT,
          wrongInARow: 9,
          lastWrongAt: new Date(),
        },
      }),
    change: ({ database, caller }) => store.resetRecipient(database, ACTOR, caller.accountId, BUDGET),
    changesNothing: async ({ database, caller }) => {
      await store.resetRecipient(database, ACTOR, none, BUDGET);
      await store.resetRecipient(database, ACTOR, caller.accountId, BUDGET);
    },
  },
  createApplication: {
    action: 'application.create',
    change: ({ database, caller: { accountId } }) =>
      store.createApplication(database, ACTOR, { accountId, name: 'Shop', mode: 'test' }),
    changesNothing: ({ database }) =>
      store.createApplication(database, ACTOR, { accountId: none, name: 'Shop', mode: 'test' }),
  },
  limitApplication: {
    action: 'application.limit',
    change: ({ database, caller }) =>
      store.limitApplication(database, ACTOR, caller.applicationId, { perMinute: 60 }),
    changesNothing: async ({ database, caller }) => {
      await store.limitApplication(database, ACTOR, none, { perMinute: 60 });
      await store.limitApplication(database, ACTOR, caller.applicationId, { perMinute: 60 });
    },
  },
  setIdentityCheck: {
    action: 'application.set_identity_check',
    change: ({ database, caller }) =>
      store.setIdentityCheck(database, ACTOR, caller.applicationId, 'observe'),
    changesNothing: async ({ database, caller }) => {
      await store.setIdentityCheck(database, ACTOR, none, 'observe');
      await store.setIdentityCheck(database, ACTOR, caller.applicationId, 'observe');
    },
  },
  forgetIdentity: {
    action: 'application.forget_identity',
    given: async ({ database, caller }) => {
      const sendId = await buildSend(database, caller, { recipient: RECIPIENT });
      await database.sql.execute`
        insert into send_identities (send_id, application_id, canonical_recipient, identity_hash, has_changed)
        values (${sendId}::uuid, ${caller.applicationId}::uuid, ${RECIPIENT}, 'DF2lS5v2W6x=', false)`;
    },
    change: ({ database, caller }) => store.forgetIdentity(database, ACTOR, caller.applicationId, RECIPIENT),
    changesNothing: async ({ database, caller }) => {
      await store.forgetIdentity(database, ACTOR, none, RECIPIENT);
      await store.forgetIdentity(database, ACTOR, caller.applicationId, RECIPIENT);
    },
  },
  renameApplication: {
    action: 'application.rename',
    change: ({ database, caller }) =>
      store.renameApplication(database, ACTOR, caller.accountId, caller.applicationId, 'Loja'),
    changesNothing: async ({ database, caller }) => {
      // Of another account.
      await store.renameApplication(database, ACTOR, none, caller.applicationId, 'Taken');
      await store.renameApplication(database, ACTOR, caller.accountId, caller.applicationId, 'Loja');
    },
  },
  createApiKey: {
    action: 'key.create',
    change: ({ database, caller }) => store.createApiKey(database, ACTOR, caller.applicationId),
    changesNothing: ({ database }) => store.createApiKey(database, ACTOR, none),
  },
  keyOfVisit: {
    action: 'key.create',
    change: ({ database, caller }) => visit(database, caller),
    changesNothing: async ({ database, caller }) => {
      await visit(database, caller);
      await visit(database, { applicationId: none });
    },
  },
  auditTriedSend: {
    action: 'application.try_send',
    change: ({ database, caller: { applicationId: id, accountId, mode } }) =>
      store.auditTriedSend(database, ACTOR, { id, accountId, mode }, RECIPIENT),
  },
  revokeApiKey: {
    action: 'key.revoke',
    change: ({ database, caller }) => store.revokeApiKey(database, ACTOR, caller.keyId),
    changesNothing: async ({ database, caller }) => {
      await store.revokeApiKey(database, ACTOR, none);
      await store.revokeApiKey(database, ACTOR, caller.keyId);
    },
  },
  changeSetting: {
    action: 'settings.change',
    given: ({ database }) => store.changeSetting(database, ACTOR, 'freeSends', 10),
    change: ({ database }) => store.changeSetting(database, ACTOR, 'freeSends', 11),
    changesNothing: ({ database }) => store.changeSetting(database, ACTOR, 'freeSends', 11),
  },
  addSender: {
    action: 'sender.add',
    change: ({ database, sender }) =>
      store.addSender(database, ACTOR, TEST_SECRET_KEY, {
        ...added,
        phoneNumberId: `${sender.phoneNumberId}0`,
      }),
    changesNothing: ({ database, sender: { phoneNumberId } }) =>
      store.addSender(database, ACTOR, TEST_SECRET_KEY, { ...added, phoneNumberId }),
  },
  pauseSender: {
    action: 'sender.pause',
    change: ({ database, sender }) => store.pauseSender(database, ACTOR, sender.id),
    changesNothing: async ({ database, sender }) => {
      await store.pauseSender(database, ACTOR, none);
      await store.pauseSender(database, ACTOR, sender.id);
    },
  },
  resumeSender: {
    action: 'sender.resume',
    given: ({ database, sender }) =>
      store.blockCountry(database, { senderId: sender.id, country: 'BR', seconds: 60, errorCode: null }),
    change: ({ database, sender }) => store.resumeSender(database, ACTOR, sender.id),
    changesNothing: async ({ database, sender }) => {
      await store.resumeSender(database, ACTOR, none);
      await store.resumeSender(database, ACTOR, sender.id);
    },
  },
  changeThroughput: {
    action: 'sender.change_throughput',
    change: ({ database, sender }) => store.changeThroughput(database, ACTOR, sender.id, 500),
    changesNothing: async ({ database, sender }) => {
      await store.changeThroughput(database, ACTOR, none, 500);
      await store.changeThroughput(database, ACTOR, sender.id, 500);
    },
  },
  setSenderToken: {
    action: 'sender.set_token',
    change: ({ database, sender }) =>
      store.setSenderToken(database, ACTOR, TEST_SECRET_KEY, sender.id, TOKEN),
    changesNothing: ({ database }) => store.setSenderToken(database, ACTOR, TEST_SECRET_KEY, none, TOKEN),
  },
  resealTokens: {
    action: 'sender.reseal',
    change: ({ database }) => store.resealTokens(database, ACTOR, otherKey),
    changesNothing: ({ database }) => store.resealTokens(database, ACTOR, otherKey),
  },
  placeHold: {
    action: 'hold.set',
    change: ({ database, caller }) => store.placeHold(database, ACTOR, hold(caller.accountId)),
    changesNothing: async ({ database, caller }) => {
      await store.placeHold(database, ACTOR, hold(none));
      await store.placeHold(database, ACTOR, { ...hold(caller.accountId), reason: 'another reason' });
    },
  },
  releaseHold: {
    action: 'hold.release',
    given: ({ database, caller }) => store.placeHold(database, ACTOR, hold(caller.accountId)),
    change: ({ database, caller }) => store.releaseHold(database, ACTOR, hold(caller.accountId)),
    changesNothing: ({ database, caller }) => store.releaseHold(database, ACTOR, hold(caller.accountId)),
  },
};
