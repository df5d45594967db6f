import { createHash, randomBytes } from 'node:crypto';
import {
  guessCost,
  hashCode,
  parseRecipient,
  seal,
  type Keyring,
  type Locale,
  type Mode,
} from '@onecode/domain';
import { createAccount, type NewAccount } from '../accounts/accounts.js';
import type { Actor } from '../audit/audit.js';
import { createApiKey } from '../accounts/apiKeys.js';
import { createApplication } from '../accounts/applications.js';
import { createSend, type NewSend } from '../sends/createSend.js';
import type { Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { addSender, type Sender } from '../senders/senders.js';

const keyring = (): Keyring => ({ current: 1, keys: new Map([[1, randomBytes(32)]]) });
/** The keys of tests: new ones in each process. */
export const TEST_PEPPER: Keyring = keyring();
export const TEST_SECRET_KEY: Keyring = keyring();

/** Whoever changes something by hand in a test. */
export const TEST_ACTOR: Actor = { kind: 'command_line', id: null, name: 'tester' };

/** Everything that a request needs: an account, an application and a key. */
export interface TestCaller {
  accountId: string;
  applicationId: string;
  mode: Mode;
  key: string;
  keyId: string;
}

export async function buildAccount(database: Database, account: Partial<NewAccount> = {}): Promise<string> {
  const made = await createAccount(database, TEST_ACTOR, {
    name: 'Test account',
    language: 'pt-BR',
    freeQuota: null,
    credits: 0,
    ratePerMinute: null,
    ...account,
  });
  return made.id;
}

/** An application with a key, in a new account unless one is named. */
export async function buildCaller(
  database: Database,
  mode: Mode,
  account: Partial<NewAccount> & { id?: string } = {},
): Promise<TestCaller> {
  const { id, ...rest } = account;
  const accountId = id ?? (await buildAccount(database, rest));
  const application = await createApplication(database, TEST_ACTOR, {
    accountId,
    name: `Test ${mode}`,
    mode,
  });
  if (application === null) throw new Error('no such account');
  const key = await createApiKey(database, TEST_ACTOR, application.id);
  if (key === null) throw new Error('no such application');
  return { accountId, applicationId: application.id, mode, key: key.key, keyId: key.id };
}

let senders = 0;

export async function buildSender(
  database: Database,
  sender: Partial<
    Pick<Sender, 'phoneNumberId' | 'number' | 'template' | 'englishTemplateLanguage' | 'throughput'>
  > & {
    token?: string;
  } = {},
): Promise<Sender> {
  senders += 1;
  const made = await addSender(database, TEST_ACTOR, TEST_SECRET_KEY, {
    phoneNumberId: String(106_540_352_242_922 + senders),
    number: `+1555078${String(3880 + senders)}`,
    token: 'test-token',
    template: 'verification_code',
    englishTemplateLanguage: 'en',
    ...sender,
  });
  if (made === null) throw new Error('the phone number id is taken');
  return made;
}

export interface SendWishes {
  code?: string;
  /** One of its own unless given: a person has few open codes at a time. */
  recipient?: string;
  locale?: Locale;
  idempotencyKey?: string;
  body?: string;
}

let recipients = 0;

const nextRecipient = (): string => `+55119${80_000_000 + (recipients += 1)}`;

/** What `createSend` takes, for a caller of `buildCaller`. */
export function newSend(caller: TestCaller, wishes: SendWishes = {}): NewSend {
  const id = newId();
  const { code = '042913', recipient = nextRecipient() } = wishes;
  return {
    id,
    keyId: caller.keyId,
    accountId: caller.accountId,
    applicationId: caller.applicationId,
    idempotency:
      wishes.idempotencyKey === undefined
        ? null
        : {
            key: Buffer.from(wishes.idempotencyKey, 'latin1'),
            bodyHash: createHash('sha256')
              .update(wishes.body ?? '{}')
              .digest(),
          },
    recipient,
    canonicalRecipient: canonicalOf(recipient),
    country: 'BR',
    isCostly: false,
    locale: wishes.locale ?? null,
    codeHash: hashCode(TEST_PEPPER, id, code),
    sealedCode: caller.mode === 'live' ? seal(TEST_SECRET_KEY, id, code) : null,
    guessCost: guessCost(code),
  };
}

function canonicalOf(recipient: string): string {
  const parsed = parseRecipient(recipient);
  if (parsed.kind !== 'phone') throw new Error('the recipient is no phone number');
  return parsed.canonical;
}

/** A send that was accepted. @returns its id */
export async function buildSend(
  database: Database,
  caller: TestCaller,
  wishes: SendWishes = {},
): Promise<string> {
  const creation = await createSend(database, newSend(caller, wishes));
  if (creation.outcome !== 'created') throw new Error(`the send was not created: ${creation.outcome}`);
  return creation.send.id;
}
