import { runbookPath } from './findings.js';
import { findingTexts, type Finding, type MissingDeliveries } from './healthFindings.js';
import type { HoldTarget } from '../sends/send.js';
import type { Keyring } from '../security/keyring.js';
import { recipientKeys } from '../recipients/numberKeys.js';
import { canonicalNumber, isMasked } from '../recipients/recipient.js';

/** A check: its name, whether it passed, what it found and, if it failed, what to do. */
export interface DeploymentCheck {
  check: string;
  /** Null if the check could not run. */
  ok: boolean | null;
  detail: string;
}

/** PostgreSQL's facts about itself and the stored data. */
export interface DatabaseFacts {
  /** For example `18.4`. */
  version: string;
  settings: Readonly<Record<string, string>>;
  /** By how much this machine's clock is certainly ahead of the database's, despite the round trip; negative if it is behind. */
  clockAheadMs: number;
  /** The rights that the role in `DATABASE_URL` lacks, or null. If rights are missing, the schema and all later fields are unknown. */
  rightsFault: string | null;
  /** Why this release cannot work with the schema, or null. If it cannot, all later fields are empty. */
  schemaFault: string | null;
  processes: readonly {
    id: string;
    kind: string;
    release: string;
    state: 'running' | 'stopped' | 'silent';
    /** The process's `clockAheadMs`, as above. */
    clockAheadMs: number;
  }[];
  /** Versions of the keys that encrypted senders' tokens and the codes that may still be sent. */
  keyVersions: readonly number[];
  /** `account`: the name of the sender's account; null for a shared sender. */
  senders: readonly { state: string; account: string | null }[];
  /** The names of accounts that use only their own senders, and have none. */
  accountsWithoutSender: readonly string[];
  /** Oldest first. `accountName`: the name of the held account; null for other holds. */
  holds: readonly (HoldTarget & { accountName: string | null; reason: string; since: Date; setBy: string })[];
}

const CLOCK_MS_MAX = 5_000;
/** If these are off, a crash may lose sends that the API has accepted. */
const DURABLE_SETTINGS = ['fsync', 'full_page_writes'] as const;
const SYNCHRONOUS: ReadonlySet<string> = new Set(['on', 'local', 'remote_write', 'remote_apply']);

const ok = (check: string, detail: string): DeploymentCheck => ({ check, ok: true, detail });
const bad = (check: string, detail: string): DeploymentCheck => ({ check, ok: false, detail });

/** Returns the result of a check that was skipped, which is not a fault. Setting `variable` enables the check. */
export const skipped = (check: string, variable: string): DeploymentCheck => ({
  check,
  ok: null,
  detail: `Skipped: set ${variable} to check this.`,
});

/** Returns the checks of PostgreSQL's facts. @param keys the versions in SECRET_KEY; null if it is not set */
export function databaseChecks(facts: DatabaseFacts, keys: readonly number[] | null): DeploymentCheck[] {
  const server = [ok('database', `PostgreSQL ${facts.version} responds.`), durability(facts), clocks(facts)];
  const { rightsFault, schemaFault } = facts;
  const faulty = (check: string, fault: string): DeploymentCheck =>
    bad(check, `${fault[0]!.toUpperCase()}${fault.slice(1)}.`);
  // The stored data could not be read. A check of the empty list of senders would be misleading.
  if (rightsFault !== null) return [...server, faulty('database_rights', rightsFault)];
  if (schemaFault !== null) return [...server, faulty('schema', schemaFault)];
  return [
    ...server,
    ok('database_rights', 'The role in DATABASE_URL has all required rights.'),
    ok('schema', 'The schema matches this release.'),
    processes(facts),
    secretKey(facts, keys),
    senders(facts),
    holds(facts),
  ];
}

function durability({ settings }: DatabaseFacts): DeploymentCheck {
  const off = DURABLE_SETTINGS.filter((name) => settings[name] !== 'on') as string[];
  if (!SYNCHRONOUS.has(settings['synchronous_commit'] ?? '')) off.push('synchronous_commit');
  return off.length === 0
    ? ok('database_durability', 'Commits are on disk before they are confirmed.')
    : bad(
        'database_durability',
        `Set ${off.join(', ')} to on: a crash can lose sends that were answered with 202.`,
      );
}

function clocks({ clockAheadMs, processes: all }: DatabaseFacts): DeploymentCheck {
  const processClocks = all
    .filter(({ state }) => state === 'running')
    .map((one) => ({ clock: `${one.kind} ${one.id}`, aheadMs: one.clockAheadMs }));
  const off = [{ clock: 'this machine', aheadMs: clockAheadMs }, ...processClocks]
    .filter(({ aheadMs }) => Math.abs(aheadMs) > CLOCK_MS_MAX)
    .map(({ clock, aheadMs }) => {
      const seconds = Math.abs(aheadMs / 1_000).toFixed(1);
      return `the clock of ${clock} is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's`;
    });
  return off.length === 0
    ? ok('clocks', 'The clocks of this machine, the processes and the database agree.')
    : bad('clocks', `Clocks differ: ${off.join('; ')}. Run NTP on all machines.`);
}

function processes({ processes: all }: DatabaseFacts): DeploymentCheck {
  const running = all.filter(({ state }) => state === 'running');
  const missing = ['api', 'worker'].filter((kind) => !running.some((one) => one.kind === kind));
  const releases = [...new Set(running.map(({ release }) => release))].toSorted();
  if (missing.length > 0)
    return bad(
      'processes',
      `No ${missing.join(' and no ')} is running: start one, and read its last log line.`,
    );
  if (releases.length > 1)
    return bad(
      'processes',
      `Releases ${releases.join(' and ')} run at the same time: finish the deploy, or roll it back.`,
    );
  const kinds = [...new Set(running.map(({ kind }) => kind))].toSorted();
  const counts = kinds.map((kind) => `${running.filter((one) => one.kind === kind).length} ${kind}`);
  return ok('processes', `Running: ${counts.join(', ')}, of release ${releases[0]}.`);
}

function secretKey({ keyVersions }: DatabaseFacts, keys: readonly number[] | null): DeploymentCheck {
  if (keys === null) return skipped('secret_key', 'SECRET_KEY');
  const missing = keyVersions.filter((version) => !keys.includes(version));
  if (missing.length > 0)
    return bad(
      'secret_key',
      `Senders' tokens or codes are encrypted with version ${missing.join(', ')}, which SECRET_KEY lacks: add that key, or set the senders' tokens again.`,
    );
  const old = keyVersions.filter((version) => version !== keys[0]);
  return ok(
    'secret_key',
    old.length === 0
      ? 'Everything is encrypted with the first key.'
      : `Older keys are still in use: ${old.join(', ')}. Run onecode sender reencrypt before you remove them.`,
  );
}

function senders({ senders: all, accountsWithoutSender }: DatabaseFacts): DeploymentCheck {
  if (all.length === 0) return bad('senders', 'There is no sender: add one with onecode sender setup.');
  const active = all.filter(({ state }) => state === 'active');
  const blocked = [...new Set(all.map(({ account }) => account))].filter((owner) =>
    active.every(({ account }) => account !== owner),
  );
  const faults = [
    ...(blocked.length === 0
      ? []
      : [
          `None of ${blocked.map(sendersOf).join(' and none of ')} can send: onecode sender list shows the reasons.`,
        ]),
    ...(accountsWithoutSender.length === 0
      ? []
      : [
          `These accounts use only their own senders and have none: ${accountsWithoutSender.join(', ')}. Run onecode sender assign, or onecode account senders ID shared.`,
        ]),
  ];
  return faults.length === 0
    ? ok('senders', `${active.length} of ${all.length} are active.`)
    : bad('senders', faults.join(' '));
}

const sendersOf = (account: string | null): string =>
  account === null ? 'the shared senders' : `the senders of the account ${account}`;

/** A hold fails the check: its sends wait, which the operator who runs the checks may not know. */
function holds({ holds: all }: DatabaseFacts): DeploymentCheck {
  if (all.length === 0) return ok('holds', 'No live sends are on hold.');
  const described = all.map(({ kind, target, accountName, reason, since, setBy }) => {
    const held = {
      live: 'All live sends',
      country: `Live sends to ${target}`,
      account: `Live sends of the account ${accountName ?? target}`,
    }[kind];
    const command = ['onecode hold release', kind, target].join(' ').trimEnd();
    return `${held} have been on hold since ${since.toISOString()}, set by ${setBy} with the reason "${reason}": run ${command} to send them.`;
  });
  return bad('holds', described.join(' '));
}

/** Checks whether the number keys made here match those that the API writes. @param pepper null if it is not set */
export function numberPepperCheck(
  latest: { recipient: string; recipientKey: string } | null,
  pepper: Keyring | null,
): DeploymentCheck {
  if (pepper === null) return skipped('number_pepper', 'NUMBER_PEPPER');
  if (latest === null || isMasked(latest.recipient))
    return ok('number_pepper', 'There is no number to check it with.');
  return recipientKeys(pepper, canonicalNumber(latest.recipient)).includes(latest.recipientKey)
    ? ok('number_pepper', 'NUMBER_PEPPER matches the latest send.')
    : bad(
        'number_pepper',
        'NUMBER_PEPPER does not match the latest send: set the same value for the API, the console and the command line.',
      );
}

/** Returns a check for each finding of the health page, or one passed check if there are none. An operator's pauses are not faults. */
export function healthChecks(findings: readonly Finding[]): DeploymentCheck[] {
  if (findings.length === 0) return [ok('health', 'The health page has no findings.')];
  return findings.map((finding) => {
    const { name, cause, severity, owner } = finding;
    const { sentence, remedy } = findingTexts(finding).en;
    const accounts = finding.account === undefined ? [] : [`account ${finding.account.name}`];
    const about = [severity, owner, ...accounts, ...listSubjects(finding)].join(', ');
    return {
      check: `health_${name}`,
      ok: owner === 'held' && cause !== 'hold',
      detail: `${about}: ${sentence} ${remedy} Steps: ${runbookPath(name)}`,
    };
  });
}

/**
 * Returns what a finding is about: its template, its blocked or holding senders, or its country or sender with the counts. Empty for all
 * other findings.
 */
function listSubjects({ template, failures, deliveries, blocks, holding }: Finding): string[] {
  if (template !== undefined) return [`template ${template.template} ${template.language}`];
  if (blocks !== undefined)
    return [...new Set(blocks.map(({ number, reason }) => `${number} ${reason.replace(/\.$/, '')}`))];
  if (holding !== undefined)
    return holding.map(({ number, messages }) => `${number} ${messages} held messages in the last hour`);
  if (deliveries !== undefined) return [...listGroup(deliveries), describeDeliveries(deliveries)];
  if (failures === undefined) return [];
  const { reason, failed, ended } = failures;
  return [
    ...listGroup(failures),
    `${failed} of ${ended} sends failed${reason === '' ? '' : `, mostly because of ${reason}`}`,
  ];
}

const listGroup = ({ country, senderId }: { country?: string; senderId?: string }): string[] => [
  ...(country === undefined ? [] : [`country ${country}`]),
  ...(senderId === undefined ? [] : [`sender ${senderId}`]),
];

const describeDeliveries = ({ lastDay, weekBefore }: MissingDeliveries): string =>
  `${lastDay.undelivered} of ${lastDay.accepted} messages of the last day never arrived, ` +
  `${weekBefore.undelivered} of ${weekBefore.accepted} in the week before`;

/**
 * Checks the response of `BASE_URL/webhooks/whatsapp` to a handshake with a wrong token. The API rejects it with a problem.
 *
 * @param answer its status and content type, or why there is none
 */
export function webhookCheck(answer: { status: number; contentType: string } | string): DeploymentCheck {
  if (typeof answer === 'string')
    return bad(
      'webhook',
      `BASE_URL cannot be reached (${answer}): check DNS, certificate, firewall and ingress.`,
    );
  const isOurs = answer.status === 403 && answer.contentType.startsWith('application/problem+json');
  return isOurs
    ? ok('webhook', 'BASE_URL reaches the API.')
    : bad(
        'webhook',
        `BASE_URL answers ${answer.status}, which is not a response of the API: check the ingress.`,
      );
}
