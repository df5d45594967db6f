import type { Locale } from '@onecode/domain';
import { QUEUE_NAMES } from '@onecode/runtime';
import { isId } from '@onecode/store/client';
import { BOARD_TEXTS } from './texts.js';

type Json = Record<string, unknown>;

/** Replaces a text that no Onecode process writes. */
const REMOVED = '[removed]';

/** The outcomes that workers write are words of small letters. */
const OUTCOME = /^[a-z_]{1,30}$/;
/** The failure reason that BullMQ writes. The reasons that workers write match `ERROR_KIND`. */
const STALLED = 'job stalled more than allowable limit';
/** An error's class, and a code of the system, the database driver or Prisma. */
const ERROR_KIND = /^(?:[A-Z][a-z]+){0,6}Error(?: (?:E[A-Z]{2,20}|P[0-9]{4}|SQLSTATE_[0-9A-Z]{5}))?$/;
const STATES = new Set(['active', 'completed', 'failed', 'paused', 'waiting', 'unknown']);
const NAMES: ReadonlySet<unknown> = new Set(QUEUE_NAMES);

/**
 * The part of each bull-board response that the board shows, by the route's pattern. Every other response is shown empty. From jobs,
 * these functions pick single fields, so that a text in an unexpected field is never shown.
 */
const VIEWS: Readonly<Record<string, (body: Json, language: Locale) => Json>> = {
  '/api/queues': ({ queues }, language) => ({
    queues: listOf(queues).map((queue) => queueView(queue, language)),
  }),
  '/api/queues/:queueName/:jobId': ({ job, status }, language) => ({
    job: jobView(job as Json, language),
    status: oneOf(STATES, status) ?? 'unknown',
  }),
  // Workers write no job logs, and jobs have no children.
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

/** Returns the part of a response that may be shown, in the reader's language. @param route the pattern of the board's route */
export function redactAnswer(route: string, status: number, body: unknown, language: Locale): Json {
  if (status >= 400) return refusalView(body as Json);
  return VIEWS[route]?.(body as Json, language) ?? {};
}

/** Keeps the key of an error; its other texts may quote the job. */
function refusalView({ error }: Json): Json {
  const { key } = (error ?? {}) as { key?: unknown };
  const isKey = typeof key === 'string' && /^ERRORS\.[A-Z_]{3,40}$/.test(key);
  return { error: { key: isKey ? key : 'ERRORS.INTERNAL_SERVER_ERROR' } };
}

function queueView({ jobs, ...queue }: Json, language: Locale): Json {
  return { ...queue, jobs: listOf(jobs).map((job) => jobView(job, language)) };
}

function jobView(job: Json, language: Locale): Json {
  const { sendId: named } = (job['data'] ?? {}) as { sendId?: unknown };
  const sendId = typeof named === 'string' && isId(named) ? named : null;
  const { failedReason, returnValue } = job;
  const outcome = (returnValue as { outcome?: unknown } | null)?.outcome;
  return {
    ...numbersOf(job, [
      'timestamp',
      'processedOn',
      'finishedOn',
      'attempts',
      'attemptsStarted',
      'stalledCounter',
    ]),
    id: typeof job['id'] === 'string' && /^[0-9]{1,15}$/.test(job['id']) ? job['id'] : REMOVED,
    name: NAMES.has(job['name']) ? job['name'] : REMOVED,
    data: sendId === null ? {} : { sendId },
    ...(sendId !== null && {
      // The board opens it in a new tab.
      externalUrl: { href: `/staff/sends/${sendId}`, displayText: BOARD_TEXTS[language].openSend },
    }),
    opts: {},
    progress: 0,
    returnValue: typeof outcome === 'string' && OUTCOME.test(outcome) ? { outcome } : null,
    isFailed: job['isFailed'] === true,
    // The worker's log contains the error, its stack and the send's id.
    stacktrace: [],
    ...(typeof failedReason === 'string' &&
      failedReason !== '' && { failedReason: reasonView(failedReason) }),
  };
}

const reasonView = (reason: string): string =>
  reason === STALLED || ERROR_KIND.test(reason) ? reason : REMOVED;

/** A worker's connection, without its name, which can be any text. */
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
