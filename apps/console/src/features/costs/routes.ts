import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { isCountryTarget } from '@onecode/domain';
import {
  listMessageCosts,
  listMonthlyCosts,
  PRICE_MAX,
  readMessagePrices,
  setMessagePrice,
} from '@onecode/store';
import { accountReading } from '../../http/accountReading.js';
import { CsvDownload } from '../../http/csv.js';
import { ConsoleProblem } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { COST_COLUMNS, costRow, type CostsView, type OwnCostsView } from './view.js';

const MONTHS = 12;
const CSV_DAYS = 366;
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** What the provider charges for messages, beside what customers were charged: the operator, or an account for those by its own senders. */
export const costRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/staff/costs',
    access: 'on_call',
    async handle({ context: { database } }): Promise<CostsView> {
      const [costs, prices] = await Promise.all([
        listMonthlyCosts(database, MONTHS),
        readMessagePrices(database),
      ]);
      return { costs, ...prices };
    },
  }),
  route({
    method: 'get',
    path: '/staff/costs.csv',
    access: 'on_call',
    async handle({ context }) {
      const costs = await listMessageCosts(context.database, CSV_DAYS);
      return new CsvDownload('costs', COST_COLUMNS, Readable.from([costs.map(costRow)]));
    },
  }),
  ...accountReading('/costs', {
    method: 'get',
    async handle({ context: { database }, accountId }): Promise<OwnCostsView> {
      return { costs: await listMonthlyCosts(database, MONTHS, accountId) };
    },
  }),
  route({
    method: 'put',
    path: '/staff/prices',
    access: 'operator',
    body: Type.Object(
      {
        country: Type.String({ pattern: '^[A-Z]{2}$' }),
        since: Type.String({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$' }),
        /** Null takes the price away. */
        price: Type.Union([Type.Number({ minimum: 0, maximum: PRICE_MAX }), Type.Null()]),
        currency: Type.String({ pattern: '^[A-Z]{3}$' }),
      },
      { additionalProperties: false },
    ),
    async handle({ context, actor, body }) {
      if (!isCountryTarget(body.country))
        throw new ConsoleProblem('invalid_input', { errors: { country: 'unknown' } });
      if (!CURRENCIES.has(body.currency))
        throw new ConsoleProblem('invalid_input', { errors: { currency: 'unknown' } });
      await setMessagePrice(context.database, actor, body);
    },
  }),
];
