import { randomBytes, randomUUID } from 'node:crypto';
import {
  afterFailure,
  bodyHashes,
  canonicalNumber,
  deriveNumberPepper,
  encrypt,
  foldReceipts,
  guessCost,
  hashCode,
  recipientKeys,
  type Block,
  type BlockKind,
  type Judgement,
  type Keyring,
  type Locale,
  type Mode,
  type NewSend,
  type SenderFailure,
} from '@onecode/domain';
import { createAccount, createApiKey, createApplication, type NewAccount } from '@onecode/store/accounts';
import { storeRefusedRequests, type RefusedRequest } from '@onecode/store/reports';
import { newId, type Database } from '@onecode/store/client';
import type { Actor } from '@onecode/store/operations';
import { addSender, changeBlock, type Sender, type SenderOwner } from '@onecode/store/senders';
import {
  applyDenial,
  createSend,
  deleteReport,
  findReportedSends,
  readDueReports,
  storeReports,
  verifySend,
  writeReceipts,
  type GuessOutcome,
  type NewReports,
} from '@onecode/store/sends';

const newKeyring = (): Keyring => ({ current: 1, keys: new Map([[1, randomBytes(32)]]) });
/** The secrets of tests, new in each process. */
export const TEST_PEPPER: Keyring = newKeyring();
export const TEST_SECRET_KEY: Keyring = newKeyring();
/** The number pepper that a process derives from `TEST_PEPPER`. */
export const TEST_NUMBER_PEPPER: Keyring = deriveNumberPepper(TEST_PEPPER);

/** The actor of the builders' changes in the audit log. */
export const TEST_ACTOR: Actor = { kind: 'command_line', id: null, name: 'tester' };

/** An account, an application and a key, as needed for a request. */
export interface TestCaller {
  accountId: string;
  applicationId: string;
  mode: Mode;
  key: string;
  keyId: string;
}

/** Creates an account. @returns its id */
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

/** Creates an application with a key, in a new account by default. */
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

/** Creates a sender with its own phone number. */
export async function buildSender(
  database: Database,
  sender: Partial<
    Pick<Sender, 'phoneNumberId' | 'number' | 'template' | 'englishTemplateLanguage' | 'throughput'>
  > & {
    token?: string;
    owner?: SenderOwner;
    businessAccountId?: string;
    /** Encrypts the token. */
    secretKey?: Keyring;
  } = {},
): Promise<Sender> {
  senders += 1;
  const { secretKey = TEST_SECRET_KEY, ...rest } = sender;
  const made = await addSender(database, TEST_ACTOR, secretKey, {
    phoneNumberId: String(106_540_352_242_922 + senders),
    number: `+1555078${String(3880 + senders)}`,
    token: 'test-token',
    template: 'verification_code',
    englishTemplateLanguage: 'en',
    ...rest,
  });
  if (made === 'taken') throw new Error('the phone number id is taken');
  return made;
}

/**
 * Blocks a sender, as a fault of one of its messages would do now.
 *
 * @param onlyFor a language or a country
 * @returns the block, or null if the sender is already blocked or the fault changes nothing
 */
export async function blockSender(
  database: Database,
  { id }: Pick<Sender, 'id'>,
  {
    onlyFor = '',
    startedAt = new Date(),
    isConfiguration = false,
    errorCode = 131042,
    reason = 'a fault',
  }: Partial<Pick<Block, 'onlyFor' | 'isConfiguration' | 'errorCode' | 'reason'>> & { startedAt?: Date } = {},
): Promise<Block | null> {
  const kind: BlockKind = { cause: 'fault', scope: 'sender', onlyFor };
  const signal = { startedAt, source: 'answer' } as const;
  const fault = { errorCode, reason };
  const failure: SenderFailure = isConfiguration
    ? { kind: 'config', scope: 'token', ...fault }
    : { kind: 'sender', ...fault };
  return changeBlock(database, id, kind, (last, now) => afterFailure(kind, last, now, signal, failure));
}

/** Ends the time of every block in this database. After that, single messages test the senders. */
export async function endBlocks({ sql }: Database): Promise<void> {
  await sql.execute`update sender_blocks set until = clock_timestamp() - interval '1 second' where until is not null`;
}

export interface SendOptions {
  code?: string;
  /** By default a different recipient for each send, because a recipient can have only a few active codes at a time. */
  recipient?: string;
  locale?: Locale;
  idempotencyKey?: string;
  body?: string;
  requestId?: string;
  traceparent?: string;
}

let recipients = 0;

const nextRecipient = (): string => `+55119${80_000_000 + (recipients += 1)}`;

/** Returns the input of `createSend`. */
export function newSend(caller: TestCaller, options: SendOptions = {}): NewSend {
  const id = newId();
  const { code = '042913', recipient = nextRecipient() } = options;
  return {
    id,
    keyId: caller.keyId,
    accountId: caller.accountId,
    applicationId: caller.applicationId,
    idempotency:
      options.idempotencyKey === undefined
        ? null
        : {
            key: Buffer.from(options.idempotencyKey, 'latin1').toString('hex'),
            bodyHashes: bodyHashes(TEST_NUMBER_PEPPER, Buffer.from(options.body ?? '{}')),
          },
    recipient,
    recipientKey: recipientKeysOf(recipient)[0]!,
    olderRecipientKeys: [],
    country: 'BR',
    isPremiumRate: false,
    locale: options.locale ?? null,
    codeHash: hashCode(TEST_PEPPER, id, code),
    encryptedCode: caller.mode === 'live' ? encrypt(TEST_SECRET_KEY, id, code) : null,
    guessCost: guessCost(code),
    requestId: options.requestId ?? newId(),
    traceparent: options.traceparent ?? null,
  };
}

/** SQL for the `minute_sends` of an account or application as if its sends had been created so many seconds earlier. */
export const earlierMinute = (seconds: string): string => `(
  select coalesce(json_agg(json_build_array((entry->>0)::bigint - (${seconds})::double precision * 1000, entry->1) order by n), '[]')
  from json_array_elements(minute_sends) with ordinality as e (entry, n)
)`;

/** Returns the keys of an E.164 number, with the pepper of tests. */
export const recipientKeysOf = (e164: string): string[] =>
  recipientKeys(TEST_NUMBER_PEPPER, canonicalNumber(e164));

/** Creates a send. @returns its id. @throws Error if it is not accepted */
export async function buildSend(
  database: Database,
  caller: TestCaller,
  options: SendOptions = {},
): Promise<string> {
  const creation = await createSend(database, newSend(caller, options));
  if (creation.outcome !== 'created') throw new Error(`the send was not created: ${creation.outcome}`);
  return creation.send.id;
}

/** Stores refused requests of a caller, as its API process would. `ageMs`: milliseconds since the refusal. */
export async function refuseRequests(
  database: Database,
  { accountId, applicationId, keyId }: TestCaller,
  code: string,
  requests: readonly (Partial<RefusedRequest> & { ageMs?: number })[],
): Promise<void> {
  const now = Date.now();
  const full = requests.map(({ ageMs = 0, ...request }) => ({
    requestId: randomUUID(),
    accountId,
    applicationId,
    keyId,
    refusedAt: new Date(now - ageMs),
    route: 'POST /v1/send',
    status: 422,
    code,
    detail: 'A sentence.',
    fields: [],
    idempotencyKeyHash: null,
    count: 1,
    ...request,
  }));
  await storeRefusedRequests(database, full);
}

/** Makes a correct or a wrong guess for a send, with a key of its application. @throws Error if the guess is not judged */
export async function guessCode(database: Database, id: string, isRight: boolean): Promise<Judgement> {
  const { accountId, applicationId } = await database.prisma.send.findUniqueOrThrow({ where: { id } });
  const { id: keyId } = await database.prisma.apiKey.findFirstOrThrow({
    where: { applicationId, revokedAt: null },
  });
  return judgementOf(await verifySend(database, { id, accountId, keyId, matches: () => isRight }));
}

/** Returns the judgement of a guess. @throws Error if the guess was not judged */
export function judgementOf(guessed: GuessOutcome): Judgement {
  if (guessed.outcome !== 'judged') throw new Error(`the guess was not judged: ${guessed.outcome}`);
  return guessed.judgement;
}

/** Stores reports of the operator's Meta app and applies a batch of due reports, as API and worker do. Changes are not applied. */
export async function applyTestReports(
  database: Database,
  { receipts = [], denials = [] }: Partial<NewReports>,
): Promise<void> {
  await storeReports(database, { receipts, denials, changes: [] }, null);
  const due = await readDueReports(database);
  for (const { key, report } of due.denials)
    if (await applyDenial(database, report)) await deleteReport(database, key);
  const { sends } = await findReportedSends(database, due.receipts);
  const policy = { attemptsMax: 5, backoffMs: 1_000 };
  await Promise.all(
    sends.map(({ send, receipts, outcomes, isPriced }) =>
      writeReceipts(
        database,
        send,
        foldReceipts({ send, now: send.now, outcomes, policy }, receipts, isPriced),
        receipts.map(({ key }) => key),
      ),
    ),
  );
}
