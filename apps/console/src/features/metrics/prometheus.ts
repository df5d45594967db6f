import { createLimiter } from '../../http/limiters.js';
import type { TimeRange } from './timeRange.js';

/**
 * Why Prometheus gave no data: it cannot be reached, did not answer in time, refused our credentials, answered with an error, or with
 * more than we read.
 */
export type PrometheusFault = 'away' | 'slow' | 'refused' | 'failed' | 'too_large';

/** A query that brought no data. */
export class PrometheusError extends Error {
  constructor(
    readonly fault: PrometheusFault,
    options?: ErrorOptions,
  ) {
    super(`Prometheus: ${fault}`, options);
  }
}

/** A series: its labels, and values with their times in seconds since 1970. */
export interface PrometheusSeries {
  labels: Readonly<Record<string, string>>;
  values: readonly [seconds: number, value: string][];
}

/** What the Metrics page asks of a Prometheus. @throws PrometheusError */
export interface Prometheus {
  /** The values at one time, in seconds since 1970. */
  query(expr: string, at: number, signal: AbortSignal): Promise<PrometheusSeries[]>;
  queryRange(expr: string, range: TimeRange, signal: AbortSignal): Promise<PrometheusSeries[]>;
}

const QUERY_MS_MAX = 4_000;
const BYTES_MAX = 2 * 1024 * 1024;
/** How long nothing is asked of a Prometheus that has not answered at all. */
const SILENCE_MS = 10_000;
/** Prometheus itself runs 20 at a time, of everybody. */
const CONCURRENCY = 6;
const QUEUED_MAX = 200;

/**
 * Opens a Prometheus.
 *
 * @param address may have credentials for basic authentication, and a path
 * @param onState told of the first failure, and of the first answer after one
 */
export function openPrometheus(
  address: string,
  onState: (fault: PrometheusFault | null) => void,
): Prometheus {
  const { base, headers } = readAddress(address);
  const limit = createLimiter({
    concurrency: CONCURRENCY,
    queuedMax: QUEUED_MAX,
    refusal: () => new PrometheusError('slow'),
  });
  const reports = createReports(onState);
  let answeredAt = -Infinity;
  let silentUntil = -Infinity;

  async function ask(
    path: string,
    parameters: Record<string, string>,
    signal: AbortSignal,
  ): Promise<PrometheusSeries[]> {
    const startedAt = performance.now();
    if (signal.aborted || startedAt < silentUntil) throw new PrometheusError('slow');
    try {
      const query = new URLSearchParams({ ...parameters, timeout: `${QUERY_MS_MAX}ms` });
      const response = await fetch(`${base}/api/v1/${path}?${query.toString()}`, {
        headers,
        // A redirect leads to a sign-in page, or away with our credentials.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(QUERY_MS_MAX)]),
      });
      answeredAt = performance.now();
      const series = readAnswer(response.status, await readText(response));
      reports(null);
      return series;
    } catch (error) {
      const fault = faultOf(error);
      // One slow query says nothing of the others; one during which nothing at all was answered does.
      if (fault === 'slow' && answeredAt < startedAt) silentUntil = performance.now() + SILENCE_MS;
      reports(fault);
      throw new PrometheusError(fault, { cause: error });
    }
  }

  return {
    query: (query, at, signal) => limit(() => ask('query', { query, time: String(at) }, signal)),
    queryRange: (query, { from, to, stepSeconds }, signal) =>
      limit(() =>
        ask(
          'query_range',
          { query, start: String(from), end: String(to), step: String(stepSeconds) },
          signal,
        ),
      ),
  };
}

/** `fetch` takes no credentials in an address: they become a header. */
function readAddress(address: string): { base: string; headers: Record<string, string> } {
  const url = new URL(address);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const base = url.href.replace(/\/+$/, '');
  if (username === '' && password === '') return { base, headers: {} };
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { base, headers: { authorization: `Basic ${credentials.toString('base64')}` } };
}

/** Passes on only what is not about one query, and that once. */
function createReports(
  onState: (fault: PrometheusFault | null) => void,
): (fault: PrometheusFault | null) => void {
  let last: PrometheusFault | null = null;
  return (fault) => {
    if (fault === 'failed' || fault === 'too_large' || (fault === null) === (last === null)) return;
    last = fault;
    onState(fault);
  };
}

/** The body, as long as it is within its limit. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the download.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > BYTES_MAX) throw new PrometheusError('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Answer {
  status?: unknown;
  errorType?: unknown;
  data?: {
    result?: { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] }[];
  };
}

function readAnswer(status: number, text: string): PrometheusSeries[] {
  if (status === 401 || status === 403) throw new PrometheusError('refused');
  const { status: outcome, errorType, data } = parse(text);
  if (errorType === 'timeout') throw new PrometheusError('slow');
  if (outcome !== 'success' || !Array.isArray(data?.result)) throw new PrometheusError('failed');
  return data.result.map(({ metric, value, values }) => ({
    labels: metric,
    values: values ?? (value === undefined ? [] : [value]),
  }));
}

function parse(text: string): Answer {
  try {
    return (JSON.parse(text) ?? {}) as Answer;
  } catch (error) {
    throw new PrometheusError('failed', { cause: error });
  }
}

function faultOf(error: unknown): PrometheusFault {
  if (error instanceof PrometheusError) return error.fault;
  // Of a time limit, or of whoever waits no longer.
  if (error instanceof DOMException) return 'slow';
  return 'away';
}
