import { createLog } from '@onecode/runtime';
import { createApiKey, createApplication } from '@onecode/store/accounts';
import { newId, type Database } from '@onecode/store/client';
import { readMailStatistics } from '@onecode/store/mails';
import { createOwnAccount, inviteMember, type MemberRole, type StaffRole } from '@onecode/store/users';
import { Mailbox, openForFile, TEST_ACTOR, TEST_SECRET_KEY, type TestDatabase } from '@onecode/testing';
import { openMailer, type Mailer } from '../src/mail/mailer.js';
import { createMailRun } from '../src/mail/sendMails.js';
import { WorkerEnvironment } from './workerEnvironment.js';

export const FROM = 'Onecode <codes@onecode.example>';
export const CONSOLE_URL = 'https://console.example.test';

/** Where a user asked for an emailed link. */
export const LINK = { language: 'en', network: '198.18.0.1', page: `${CONSOLE_URL}/x` } as const;

export interface TestUser {
  id: string;
  email: string;
}

/** The test environment of mails: a worker's environment, a mail server, and the loop that sends due mails. */
export class MailEnvironment {
  /** Sends all due mails. */
  readonly run: () => Promise<void>;
  /** Runs plain SQL on the database of this file. */
  readonly sql: TestDatabase['sql'] = (text, values) => this.worker.db.sql(text, values);
  #people = 0;

  private constructor(
    readonly worker: WorkerEnvironment,
    readonly mailbox: Mailbox,
    private readonly mailer: Mailer,
  ) {
    this.run = createMailRun({
      database: this.database,
      secretKey: TEST_SECRET_KEY,
      log: createLog('worker', 'silent'),
      mailer,
      consoleUrl: CONSOLE_URL,
    });
  }

  static async open(): Promise<MailEnvironment> {
    const worker = await WorkerEnvironment.open();
    const mailbox = await Mailbox.start();
    const mailer = (await openMailer({ SMTP_URL: mailbox.url, MAIL_FROM: FROM }))!;
    const environment = new MailEnvironment(worker, mailbox, mailer);
    await environment.run();
    return environment;
  }

  async close(): Promise<void> {
    this.mailer.close();
    await this.mailbox.close();
    await this.worker.close();
  }

  get database(): Database {
    return this.worker.db.database;
  }

  /** Deletes the mails and incidents of earlier tests, and removes users from the staff. */
  async reset(): Promise<void> {
    this.mailbox.fault = () => null;
    this.mailbox.onMail = () => Promise.resolve();
    this.mailbox.mails.length = 0;
    await this.sql('delete from outbox');
    await this.sql('delete from counted_tries');
    await this.sql('delete from incidents');
    await this.sql('delete from user_verifications');
    await this.sql('update users set staff = null');
  }

  /** Creates a user with a role, without queueing a mail. The user cannot sign in, because hashing a password takes 80 ms. */
  async user(
    role: { accountId: string; role: MemberRole } | { staff: StaffRole } | null,
    language: 'en' | 'pt-BR' | null = 'en',
  ): Promise<TestUser> {
    this.#people += 1;
    const { prisma } = this.database;
    const user = { id: newId(), email: `ana${this.#people}@example.com` };
    const staff = role !== null && 'staff' in role ? role.staff : null;
    await prisma.user.create({
      data: { ...user, name: `Ana ${this.#people}`, language, staff, emailVerified: true },
    });
    await prisma.userCredential.create({
      data: { id: newId(), userId: user.id, accountId: user.id, providerId: 'credential', password: 'none' },
    });
    if (role !== null && 'accountId' in role)
      await prisma.member.create({ data: { userId: user.id, ...role } });
    await this.sql('delete from outbox');
    return user;
  }

  /** Creates a key, which queues a mail to the account's admins. */
  async createKey(accountId: string): Promise<void> {
    const application = { accountId, name: 'Loja', mode: 'test' } as const;
    const { id } = (await createApplication(this.database, TEST_ACTOR, application))!;
    await createApiKey(this.database, TEST_ACTOR, id);
  }

  /** Creates a trial account with its admin. */
  async trialAccount(name: string): Promise<{ accountId: string; admin: TestUser }> {
    const admin = await this.user(null);
    const made = await createOwnAccount(
      this.database,
      { kind: 'user', id: admin.id, name: admin.email },
      { name, language: 'en', countries: ['BR'], names: { application: name, key: name } },
    );
    return { accountId: made!.accountId, admin };
  }

  /** Invites an address as viewer. */
  inviteBy({ id, email }: TestUser, accountId: string, to: string): ReturnType<typeof inviteMember> {
    return inviteMember(
      this.database,
      { kind: 'user', id, name: email },
      { accountId, email: to, role: 'viewer', network: '198.18.0.0/24' },
      { keyring: TEST_SECRET_KEY, page: `${CONSOLE_URL}/invitation` },
    );
  }

  /** Returns the subjects of a user's mails in alphabetical order. */
  subjectsTo({ email }: TestUser): string[] {
    return this.mailbox
      .to(email)
      .map(({ subject }) => subject)
      .toSorted();
  }

  /** Ends the wait for the next try, and the leases of dead workers. */
  async letTimePass(): Promise<void> {
    await this.sql(
      `update outbox set due_at = clock_timestamp() - interval '1 second' where due_at is not null`,
    );
  }

  async waiting(): Promise<number> {
    return (await readMailStatistics(this.database)).waiting;
  }
}

/** Opens one environment for all tests of a file, and resets it before each of them. */
export function useMails(): MailEnvironment {
  const environment = openForFile(
    () => MailEnvironment.open(),
    (opened) => opened.close(),
  );
  beforeEach(() => environment.reset());
  return environment;
}
