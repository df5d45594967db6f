import {
  databaseChecks,
  healthChecks,
  healthFindings,
  numberPepperCheck,
  runbookPath,
  skipped,
  webhookCheck,
  type DeploymentCheck,
  type RedisHealth,
} from '@onecode/domain';
import { address, readConfig, secret, text } from '@onecode/runtime/config';
import { VERSION } from '@onecode/runtime/version';
import type { Database } from '@onecode/store/client';
import { createHealthReader, findLatestRecipient, readDatabaseFacts } from '@onecode/store/operations';
import { listSenderKnowledge, listSenders } from '@onecode/store/senders';
import type { Command } from 'commander';
import { oneOf } from '../arguments.js';
import { DATABASE_URL, withDatabase } from '../database.js';
import { environment } from '../environment.js';
import { NotOk, UsageError, UserError } from '../errors.js';
import { findNumberPepper, optionalKeyring } from '../numberPepper.js';
import { print } from '../output.js';
import { examineRestored } from './restored.js';
import { runPreflight } from './senderCheck.js';

const ANSWER_MS_MAX = 5_000;

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the whole deployment and print remedies; exit code 1 if a check fails')
    .addHelpText(
      'after',
      '\nRun it with the variables of an API process: REDIS_URL, BASE_URL, SECRET_KEY and NUMBER_PEPPER enable more checks.\n\nExample:\n  $ onecode doctor --json',
    )
    .option(
      '--after-restore',
      'run once after restoring a database, before processes start: hold live sends, and list what needs a review',
    )
    .option(
      '--audit <->',
      'with --after-restore: read the output of "audit list --json" from after the backup, and repeat its key revocations and cancelled deletions',
      oneOf('--audit', ['-']),
    )
    .action(async ({ afterRestore, audit }: { afterRestore?: true; audit?: '-' }, command: Command) => {
      if (audit !== undefined && !afterRestore) throw new UsageError('--audit needs --after-restore');
      const checks = await (afterRestore ? examineRestored(audit) : examine());
      print(
        command,
        checks.map(({ check, ok, detail }) => ({ check, ok, detail })),
      );
      if (checks.some(({ ok }) => ok === false)) throw new NotOk();
    });
}

async function examine(): Promise<DeploymentCheck[]> {
  const given = environment();
  // BullMQ takes longer to load than most commands to run.
  const isNamed = [given['REDIS_URL'], given['REDIS_URL_FILE']].some((value) => value?.trim());
  const runtime = isNamed ? await import('@onecode/runtime') : null;
  const config = readConfig(given, {
    DATABASE_URL,
    SECRET_KEY: optionalKeyring,
    NUMBER_PEPPER: optionalKeyring,
    CODE_PEPPER: optionalKeyring,
    BASE_URL: address(''),
    QUEUE_PREFIX: text('onecode'),
    REDIS_URL: runtime?.redisAddress() ?? secret(text('')),
  });
  const [redis, webhook] = await Promise.all([
    examineRedis(config, runtime),
    examineWebhook(config.BASE_URL),
  ]);
  const keys = config.SECRET_KEY && [...config.SECRET_KEY.keys.keys()];
  return [...(await examineDatabase(keys, redis.health)), redis.check, webhook];
}

async function examineDatabase(
  keys: readonly number[] | null,
  redis: RedisHealth | null,
): Promise<DeploymentCheck[]> {
  try {
    return await withDatabase(async (database) => {
      const facts = await readDatabaseFacts(database, VERSION);
      const checks = databaseChecks(facts, keys);
      if (facts.rightsFault !== null || facts.schemaFault !== null) return checks;
      // Without REDIS_URL, Redis is not checked, so it must not cause a finding.
      const known = redis ?? { redisMs: 0, queues: [] };
      const health = await createHealthReader(database, () => Promise.resolve(known))();
      return [
        ...checks,
        numberPepperCheck(await findLatestRecipient(database), findNumberPepper()),
        ...(await examineSenders(database)),
        ...healthChecks(healthFindings(health)),
      ];
    });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // A message with a colon contains its own remedy, except for a colon in the quoted message of the driver.
    const remedy = /^[^(]*: /.test(error.message) ? '' : `: see ${runbookPath('postgresql_unavailable')}`;
    return [{ check: 'database', ok: false, detail: `${error.message}${remedy}.` }];
  }
}

/** Checks each sender from the provider's latest reports; `sender check` asks the provider again. */
async function examineSenders(database: Database): Promise<DeploymentCheck[]> {
  const checks: DeploymentCheck[] = [];
  for (const sender of await listSenders(database)) {
    const [knowledge] = await listSenderKnowledge(database, sender.id);
    if (knowledge === undefined) continue;
    const faults = (await runPreflight(database, knowledge)).filter(({ ok }) => !ok);
    const check = `sender_${sender.id}`;
    const owner = sender.accountName === null ? '' : `Sender of the account ${sender.accountName}: `;
    checks.push(
      faults.length === 0
        ? { check, ok: true, detail: `${owner}Meta reports that it is ready.` }
        : { check, ok: false, detail: `${owner}${faults.map(({ text }) => text).join(' ')}` },
    );
  }
  return checks;
}

async function examineRedis(
  config: { QUEUE_PREFIX: string; REDIS_URL: string },
  runtime: typeof import('@onecode/runtime') | null,
): Promise<{ check: DeploymentCheck; health: RedisHealth | null }> {
  if (runtime === null) return { check: skipped('redis', 'REDIS_URL'), health: null };
  const queues = runtime.openQueues(config);
  const end = performance.now() + ANSWER_MS_MAX;
  while (!queues.isReady() && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const fault = await queues.ping().then(
    () => null,
    (error: NodeJS.ErrnoException) => error,
  );
  const health = await queues.readHealth();
  await queues.close();
  if (fault === null) return { check: { check: 'redis', ok: true, detail: 'Redis accepts writes.' }, health };
  // Errors of connections to several addresses have no message.
  const detail = `Redis cannot be used (${fault.message.trim() || fault.code}): see ${runbookPath('redis_unhealthy')}.`;
  return { check: { check: 'redis', ok: false, detail }, health };
}

async function examineWebhook(baseUrl: string): Promise<DeploymentCheck> {
  if (baseUrl === '') return skipped('webhook', 'BASE_URL');
  const query = 'hub.mode=subscribe&hub.verify_token=doctor&hub.challenge=1';
  const answer = await fetch(`${baseUrl}/webhooks/whatsapp?${query}`, {
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    redirect: 'manual',
  }).catch((error: Error & { cause?: { code?: string } }) => error.cause?.code ?? error.name);
  if (typeof answer === 'string') return webhookCheck(answer);
  await answer.body?.cancel();
  return webhookCheck({ status: answer.status, contentType: answer.headers.get('content-type') ?? '' });
}
