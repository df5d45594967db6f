import { type AttemptOutcome, type Locale } from '@onecode/domain';
import { QUEUE_NAMES, readJobText, type JobText } from '@onecode/runtime';
import { isId } from '@onecode/store';
import { explainError } from '@onecode/whatsapp';
import { BOARD_TEXTS, meaningIn } from './texts.js';

type Json = Record<string, unknown>;

/** Replaces a text that none of our processes writes. */
const REMOVED = '[removed]';

/** The reasons of failures that our workers and BullMQ write besides how a round ended. */
const REASONS = new Set(['the job names no send', 'job stalled more than allowable limit']);
/** An error's class, and a code of the system, the database driver or Prisma. */
const ERROR_KIND = /^(?:[A-Z][a-z]+){0,6}Error(?: (?:E[A-Z]{2,20}|P[0-9]{4}|SQLSTATE_[0-9A-Z]{5}))?$/;
/** How a round of delivery or a simulation may end. */
const ENDS = new Set([
  'accepted',
  'attempts_exhausted',
  'awaiting_receipt',
  'expired_before_delivery',
  'gone',
  'no_sender',
  'read',
  'rejected_by_provider',
  'retry',
  'settled',
  'stale',
]);
type FaultKind = Exclude<AttemptOutcome, 'accepted'>;
const FAULT_KINDS: ReadonlySet<string> = new Set<FaultKind>([
  'config',
  'recipient',
  'retry',
  'sender',
  'unknown',
]);
const STATES = new Set([
  'active',
  'completed',
  'delayed',
  'failed',
  'paused',
  'prioritized',
  'waiting',
  'waiting-children',
  'unknown',
]);
const NAMES: ReadonlySet<unknown> = new Set(QUEUE_NAMES);

/**
 * The part of each of bull-board's answers that the board shows, by the route's pattern. Every other answer is shown empty. Of jobs,
 * these functions choose single fields, so that a text in an unexpected field is never shown.
 */
const VIEWS: Readonly<Record<string, (body: Json, language: Locale) => Json>> = {
  '/api/queues': ({ queues }, language) => ({
    queues: listOf(queues).map((queue) => queueView(queue, language)),
  }),
  '/api/queues/:queueName/:jobId': ({ job, status }, language) => ({
    job: jobView(job as Json, language),
    status: oneOf(STATES, status) ?? 'unknown',
  }),
  // Our workers write no logs, and our jobs have no children.
  '/api/queues/:queueName/:jobId/logs': () => [] as unknown as Json,
  '/api/queues/:queueName/:jobId/flow': () => ({ nodeId: '', isFlowNode: false, flowRoot: null }),
  '/api/queues/:queueName/workers': ({ workers }) => ({
    workers: workers === null ? null : listOf(workers).map(workerView),
  }),
  '/api/queues/:queueName/rate-limit': ({ rateLimit }) => ({ rateLimit: numbersOf(rateLimit) }),
  '/api/queues/:queueName/metrics': (body) => body,
  '/api/queues/:queueName/default-job-options': () => ({ defaultJobOptions: {} }),
  '/api/queues/:queueName/job-data-schema': () => ({ jobDataSchema: null }),
  '/api/job-schedulers': () => ({ jobSchedulers: [] }),
  '/api/redis/stats': (body) => body,
};

/** Returns the part of an answer that may be shown, in the reader's language. @param route the pattern of the board's route */
export function redactAnswer(route: string, status: number, body: unknown, language: Locale): Json {
  if (status >= 400) return refusalView(body as Json);
  return VIEWS[route]?.(body as Json, language) ?? {};
}

/** Keeps the key of an error; its other texts may quote the job. */
function refusalView({ error }: Json): Json {
  const { key, options } = (error ?? {}) as { key?: unknown; options?: { state?: unknown } };
  const isKey = typeof key === 'string' && /^ERRORS\.[A-Z_]{3,40}$/.test(key);
  const state = oneOf(STATES, options?.state);
  return {
    error: {
      key: isKey ? key : 'ERRORS.INTERNAL_SERVER_ERROR',
      ...(state !== undefined && { options: { state } }),
    },
  };
}

function queueView({ jobs, ...queue }: Json, language: Locale): Json {
  return { ...queue, jobs: listOf(jobs).map((job) => jobView(job, language)) };
}

function jobView(job: Json, language: Locale): Json {
  const { sendId: named } = (job['data'] ?? {}) as { sendId?: unknown };
  const sendId = typeof named === 'string' && isId(named) ? named : null;
  const { failedReason, returnValue } = job;
  const options = (job['opts'] ?? {}) as Json;
  return {
    ...numbersOf(job, [
      'timestamp',
      'processedOn',
      'finishedOn',
      'attempts',
      'attemptsStarted',
      'delay',
      'stalledCounter',
    ]),
    id: typeof job['id'] === 'string' && /^[0-9]{1,15}$/.test(job['id']) ? job['id'] : REMOVED,
    name: NAMES.has(job['name']) ? job['name'] : REMOVED,
    data: sendId === null ? {} : { sendId },
    ...(sendId !== null && {
      // The board opens it in a tab of its own.
      externalUrl: { href: `/staff/sends/${sendId}`, displayText: BOARD_TEXTS[language].openSend },
    }),
    opts: numbersOf(options, ['attempts', 'delay', 'priority']),
    progress: 0,
    returnValue: typeof returnValue === 'string' ? endView(returnValue, language) : null,
    isFailed: job['isFailed'] === true,
    // The worker's log has the error and its stack beside the send's id.
    stacktrace: [],
    ...(typeof failedReason === 'string' &&
      failedReason !== '' && { failedReason: reasonView(failedReason, language) }),
  };
}

const reasonView = (reason: string, language: Locale): string =>
  REASONS.has(reason) || ERROR_KIND.test(reason) ? reason : (endView(reason, language) ?? REMOVED);

/** How a round ended, with the fault's meaning written again in the reader's language; null for any text that says something else. */
function endView(text: string, language: Locale): string | null {
  if (ENDS.has(text)) return text;
  const round = readJobText(text);
  if (round === null || round.fault === null || !ENDS.has(round.end)) return null;
  const meaning = faultView(round.fault, language);
  return meaning === null ? null : `${round.end}: ${meaning}`;
}

function faultView(fault: NonNullable<JobText['fault']>, language: Locale): string | null {
  const texts = BOARD_TEXTS[language];
  if (typeof fault === 'string') return texts[fault];
  if (!FAULT_KINDS.has(fault.kind)) return null;
  const meaning = meaningIn(language, explainError(fault.code, fault.kind as FaultKind));
  return `Meta ${fault.code ?? texts.withoutCode} (${fault.kind}): ${meaning}`;
}

/** A worker's connection, without its name, which may be any text. */
const workerView = ({ id, addr, age }: Json): Json => ({ id, name: null, addr, age });

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

const oneOf = (allowed: ReadonlySet<string>, value: unknown): string | undefined =>
  typeof value === 'string' && allowed.has(value) ? value : undefined;

/** Returns the numbers of a record: all of them, or those named. */
function numbersOf(record: unknown, names = Object.keys(record ?? {})): Json {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = (record as Json)[name];
      return typeof value === 'number' ? [[name, value]] : [];
    }),
  );
}
