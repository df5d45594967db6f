import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a query of the page is about. */
interface StandInQuery {
  path: string;
  parameters: Readonly<Record<string, string>>;
  authorization: string | undefined;
}

type Answer = (query: StandInQuery, response: ServerResponse) => void;

/** A server that speaks as much of Prometheus's API as the page asks for, and misbehaves on demand. */
export interface PrometheusStandIn {
  url: string;
  /** Every query since the last `clear`. */
  queries: StandInQuery[];
  /** How it answers from now on. */
  answer: Answer;
  close(): Promise<void>;
}

/** Starts one that answers with data for every panel. */
export async function startPrometheusStandIn(): Promise<PrometheusStandIn> {
  const server = createServer((request, response) => {
    const query = queryOf(request);
    standIn.queries.push(query);
    standIn.answer(query, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: PrometheusStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    queries: [],
    answer: answerWithData,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return standIn;
}

function queryOf({ url, headers: { authorization } }: IncomingMessage): StandInQuery {
  const { pathname, searchParams } = new URL(url ?? '/', 'http://stand-in');
  return { path: pathname, parameters: Object.fromEntries(searchParams), authorization };
}

export const answerJson = (response: ServerResponse, body: object, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

const LABELS: Readonly<Record<string, string[]>> = {
  version: ['0.9.0'],
  reason: ['attempts_exhausted', 'rejected_by_provider'],
  outcome: ['accepted', 'recipient', 'retry'],
  status: ['delivered', 'read', 'sent'],
  country: ['BR', 'MX', 'PT'],
  state: ['active', 'cooling_down'],
  route: ['/v1/send', '/v1/send/:id/verify'],
  process: ['api', 'worker'],
  instance: ['10.0.12.7:9090'],
  finding: ['redis_slow', 'sends_late'],
  severity: ['degraded'],
  owner: ['redis'],
  queue: ['deliver', 'receipts'],
  result: ['accepted', 'invalid_signature'],
  sender: ['01a1fa05-b8ff-7465-ba7e-fd4e947cdd5c'],
  scope: ['sender'],
};

/** A few series with the labels that the query groups by, and waves as their values. */
export const answerWithData: Answer = ({ path, parameters }, response) => {
  const [, names = ''] = /by \(([\w, ]+)\)/.exec(parameters['query'] ?? '') ?? [];
  const labels = names
    .split(/, */)
    .filter((name) => name !== '' && name !== 'le')
    .reduce<Record<string, string>[]>(
      (sets, name) =>
        sets.flatMap((set) => (LABELS[name] ?? ['any']).map((value) => ({ ...set, [name]: value }))),
      [{}],
    );
  const start = Number(parameters['start']);
  const step = Number(parameters['step']);
  const points = path.endsWith('query_range')
    ? Math.round((Number(parameters['end']) - start) / step) + 1
    : 0;
  const scale = /bytes/.test(parameters['query'] ?? '')
    ? 90_000_000
    : /ratio/.test(parameters['query'] ?? '')
      ? 0.03
      : 0.4;
  // So that the lines of a panel do not cover each other.
  const shift = (parameters['query'] ?? '').length % 7;
  const valueAt = (at: number, nth: number): string =>
    String(
      scale *
        (1 + nth / 2 + shift / 4 + 0.4 * Math.sin(at / (19 + 4 * nth) + shift) + 0.05 * Math.sin(at * 1.7)),
    );
  answerJson(response, {
    status: 'success',
    data: {
      resultType: points > 0 ? 'matrix' : 'vector',
      result: labels.map((metric, nth) => ({
        metric,
        ...(points > 0
          ? { values: Array.from({ length: points }, (_, at) => [start + at * step, valueAt(at, nth)]) }
          : { value: [Number(parameters['time']), '1'] }),
      })),
    },
  });
};
