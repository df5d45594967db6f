import { Type, type Static } from 'typebox';
import type { Mode } from '@onecode/domain';
import { findApplications } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import { countDenials, overview, type OverviewQuestion } from '@onecode/store/reports';
import { accountReading } from '../../http/accountReading.js';
import { csvOf } from '../../http/csv.js';
import { idField, strictObject, timeField } from '../../http/fields.js';
import { createFairLimiter } from '../../http/limiters.js';
import { ConsoleProblem } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import { OVERVIEW_COLUMNS, overviewRows } from './view.js';

const DAY_MS = 86_400_000;
/** Reading a month of a large account takes a connection 0.2 seconds. Six of ten connections stay free for everything else. */
const limitOverviews = createFairLimiter({ concurrency: 4, concurrencyPerKey: 2, queuedPerKeyMax: 40 });
const HOURLY_DAYS_MAX = 8;
const DAILY_DAYS_MAX = 370;

const QUERY = strictObject({
  from: timeField,
  to: timeField,
  bucket: Type.Enum(['hour', 'day']),
  /** A name such as `America/Sao_Paulo`. */
  timeZone: Type.String({ maxLength: 60 }),
  /** Default: the mode of the application; for all applications, live if one of them is live, else test. */
  mode: Type.Optional(Type.Enum(['test', 'live'])),
  application: Type.Optional(idField),
  locale: Type.Optional(Type.Enum(['pt-BR', 'en'])),
});

/** Counts and shares of an account's sends within a period; for staff, of any account. */
export const overviewRoutes: readonly Route[] = [
  ...accountReading('get', '/overview', {
    query: QUERY,
    async handle({ context: { database }, accountId, query }) {
      const question = await questionOf(database, accountId, query);
      return limitOverviews(accountId, async () => ({
        mode: question.mode,
        ...(await overview(database, accountId, question)),
        previous: (await overview(database, accountId, periodBefore(question))).totals,
        denials: await countDenials(database, accountId, question),
      }));
    },
  }),
  ...accountReading('get', '/overview.csv', {
    query: QUERY,
    async handle({ context: { database }, accountId, query }) {
      const question = await questionOf(database, accountId, query);
      const read = await limitOverviews(accountId, () => overview(database, accountId, question));
      return csvOf('overview', OVERVIEW_COLUMNS, [overviewRows(read)]);
    },
  }),
];

async function questionOf(
  database: Database,
  accountId: string,
  { bucket, application, mode, locale, ...query }: Static<typeof QUERY>,
): Promise<OverviewQuestion & { mode: Mode }> {
  const [from, to] = [new Date(query.from), new Date(query.to)];
  const days = (to.getTime() - from.getTime()) / DAY_MS;
  if (days <= 0 || days > (bucket === 'hour' ? HOURLY_DAYS_MAX : DAILY_DAYS_MAX))
    throw new ConsoleProblem('invalid_input', { errors: { to: 'range' } });
  return {
    from,
    to,
    bucket,
    timeZone: query.timeZone,
    ...(application !== undefined && { applicationId: application }),
    mode: mode ?? modeOf(await findApplications(database, { accountId }), application),
    ...(locale !== undefined && { locale }),
  };
}

const modeOf = (applications: readonly { id: string; mode: Mode }[], asked: string | undefined): Mode =>
  applications.some(({ id, mode }) => mode === 'live' && (asked === undefined || id === asked))
    ? 'live'
    : 'test';

/** The same part of the previous period, so that an unfinished day is not shown as a drop. */
function periodBefore(question: OverviewQuestion): OverviewQuestion {
  const lengthMs = question.to.getTime() - question.from.getTime();
  const end = Math.max(question.from.getTime() + 1, Math.min(question.to.getTime(), Date.now()));
  return { ...question, from: new Date(question.from.getTime() - lengthMs), to: new Date(end - lengthMs) };
}
