import { QUEUE_NAMES } from '@onecode/runtime';
import { isId } from '@onecode/store';

type Json = Record<string, unknown>;

/** Replaces a text that none of our processes writes. */
const REMOVED = '[removed]';

/** The reasons of failures that our workers and BullMQ write. */
const REASONS = new Set([
  'expired_before_delivery',
  'attempts_exhausted',
  'rejected_by_provider',
  'the attempt did not succeed; the send’s row has the details',
  'the job names no send',
  'job stalled more than allowable limit',
]);
/** An error's class, and a code of the system, the database driver or Prisma. */
const ERROR_KIND = /^(?:[A-Z][a-z]+){0,6}Error(?: (?:E[A-Z]{2,20}|P[0-9]{4}|SQLSTATE_[0-9A-Z]{5}))?$/;
/** The results of jobs that our workers write. */
const RESULTS = new Set(['accepted', 'awaiting_receipt', 'gone', 'no_sender', 'read', 'settled', 'stale']);
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
 * these functions choose single fields, so that a text in an unexpected field is never shown. A test compares the patterns with the
 * installed release.
 */
const VIEWS: Readonly<Record<string, (body: Json) => Json>> = {
  '/api/queues': ({ queues }) => ({ queues: listOf(queues).map(queueView) }),
  '/api/queues/:queueName/:jobId': ({ job, status }) => ({
    job: jobView(job as Json),
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

/** Returns the part of an answer that may be shown. @param route the pattern of the board's route */
export function redactAnswer(route: string, status: number, body: unknown): Json {
  if (status >= 400) return refusalView(body as Json);
  return VIEWS[route]?.(body as Json) ?? {};
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

function queueView({ jobs, ...queue }: Json): Json {
  return { ...queue, jobs: listOf(jobs).map(jobView) };
}

function jobView(job: Json): Json {
  const { sendId } = (job['data'] ?? {}) as { sendId?: unknown };
  const { failedReason } = job;
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
    data: typeof sendId === 'string' && isId(sendId) ? { sendId } : {},
    opts: numbersOf(options, ['attempts', 'delay', 'priority']),
    progress: 0,
    returnValue: oneOf(RESULTS, job['returnValue']) ?? null,
    isFailed: job['isFailed'] === true,
    // The worker's log has the error and its stack beside the send's id.
    stacktrace: [],
    ...(typeof failedReason === 'string' &&
      failedReason !== '' && { failedReason: reasonView(failedReason) }),
  };
}

const reasonView = (reason: string): string =>
  REASONS.has(reason) || ERROR_KIND.test(reason) ? reason : REMOVED;

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

/** The routes whose answers `redactAnswer` shows, by their patterns. */
export const SHOWN_ROUTES: readonly string[] = Object.keys(VIEWS);
