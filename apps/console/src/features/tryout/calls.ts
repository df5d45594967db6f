import { performance } from 'node:perf_hooks';
import { takeTryout, withTryoutKey, type ApplicationSummary, type TriedSend } from '@onecode/store';
import { ConsoleProblem } from '../../http/problem.js';
import type { Call } from '../../http/route.js';
import { applicationOf } from '../applications/routes.js';
import { problemIn } from './answers.js';
import { apiRequest, callApi, type ApiAnswer, type ApiFault } from './apiCall.js';
import { exchangeView, hider } from './exchange.js';
import { requireProof } from './proof.js';
import { tryoutSamples } from './samples.js';
import type { ApiProblemView, ExchangeView, SampleView } from './view.js';

/** A call to the API. */
interface Wanted {
  method: 'GET' | 'POST';
  path: string;
  body: Record<string, string> | null;
  /** What is shown in place of members of the body. */
  hidden?: Record<string, string>;
  /** The recipient in the body, which is hidden wherever else it stands. */
  recipient?: string;
  idempotencyKey?: string;
}

interface Made {
  answer: ApiAnswer | ApiFault;
  exchange: ExchangeView;
  problem: ApiProblemView | null;
}

/** Makes calls to the API with a key of the application that lives as long as `use` takes. */
export async function withApi<R>(
  { context, actor, accountId }: Call,
  application: ApplicationSummary,
  tried: TriedSend | null,
  use: (make: (wanted: Wanted) => Promise<Made>) => Promise<R>,
): Promise<R> {
  const { BASE_URL, API_URL } = context.config;
  return withTryoutKey(context.database, actor, { ...application, accountId }, tried, (key) =>
    use(async ({ method, path, body, hidden = {}, recipient, idempotencyKey }) => {
      const request = apiRequest(
        { apiUrl: API_URL, publicUrl: BASE_URL },
        {
          method,
          path,
          key,
          body: body && JSON.stringify(body),
          ...(idempotencyKey !== undefined && { idempotencyKey }),
        },
      );
      const begunAt = performance.now();
      const answer = await callApi(API_URL, request);
      const tookMs = Math.round(performance.now() - begunAt);
      const bodyShown = body && JSON.stringify({ ...body, ...hidden });
      return {
        answer,
        exchange: exchangeView(request, answer, { bodyShown, tookMs, hide: hider(key, recipient) }),
        problem: problemIn(answer, `${BASE_URL}/docs`),
      };
    }),
  );
}

/** The samples for a call, in the language of whoever is signed in. */
export function samplesFor(
  { context, person }: Call,
  application: ApplicationSummary,
  operation: Parameters<typeof tryoutSamples>[0],
): SampleView[] {
  const { language } = person;
  return tryoutSamples(operation, application, { baseUrl: context.config.BASE_URL, language });
}

/** Counts a call of this person. @throws ConsoleProblem `rate_limited` when they made too many in this minute */
export async function countCall({ context, person }: Call, kind: 'send' | 'look'): Promise<void> {
  if (!(await takeTryout(context.database, person.id, kind))) throw new ConsoleProblem('rate_limited');
}

/** The application of a send that this person created on its page, when they may make one more call about it. */
export async function applicationOfTried(
  call: Call<{ send: string; proof: string }>,
): Promise<ApplicationSummary> {
  const application = await applicationOf(call);
  const { context, person, body } = call;
  const tried = { userId: person.id, applicationId: application.id, sendId: body.send };
  requireProof(context.config.SESSION_SECRET, tried, body.proof);
  await countCall(call, 'look');
  return application;
}
