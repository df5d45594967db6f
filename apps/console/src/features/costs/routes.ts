import { Type } from 'typebox';
import { isCountryTarget } from '@onecode/domain';
import {
  listMessageCosts,
  listMonthlyCosts,
  PRICE_MAX,
  readMessagePrices,
  setMessagePrice,
} from '@onecode/store/reports';
import { accountReading } from '../../http/accountReading.js';
import { csvOf } from '../../http/csv.js';
import { strictObject } from '../../http/fields.js';
import { ConsoleProblem } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { COST_COLUMNS, type CostsView, type OwnCostsView } from './view.js';

const MONTHS = 12;
/** The database would round a price with more decimals. */
const PRICE_DECIMALS = 6;
const CSV_DAYS = 366;
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** What the provider charges the operator, or an account for its own senders, next to what customers were charged. */
export const costRoutes: readonly Route[] = [
  route('get', '/staff/costs', 'on_call', {
    async handle({ context: { database } }): Promise<CostsView> {
      const [costs, prices] = await Promise.all([
        listMonthlyCosts(database, MONTHS),
        readMessagePrices(database),
      ]);
      return { costs, ...prices };
    },
  }),
  route('get', '/staff/costs.csv', 'on_call', {
    async handle({ context }) {
      return csvOf('costs', COST_COLUMNS, [await listMessageCosts(context.database, CSV_DAYS)]);
    },
  }),
  ...accountReading('get', '/costs', {
    async handle({ context: { database }, accountId }): Promise<OwnCostsView> {
      return { costs: await listMonthlyCosts(database, MONTHS, accountId) };
    },
  }),
  route('put', '/staff/prices', 'operator', {
    body: strictObject({
      country: Type.String({ pattern: '^[A-Z]{2}$' }),
      since: Type.String({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$' }),
      /** Null removes the price. */
      price: Type.Union([Type.Number({ minimum: 0, maximum: PRICE_MAX }), Type.Null()]),
      currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    }),
    async handle({ context, actor, body }) {
      if (!isCountryTarget(body.country))
        throw new ConsoleProblem('invalid_input', { errors: { country: 'unknown' } });
      if (body.price !== null && Number(body.price.toFixed(PRICE_DECIMALS)) !== body.price)
        throw new ConsoleProblem('invalid_input', { errors: { price: 'multipleOf' } });
      if (!CURRENCIES.has(body.currency))
        throw new ConsoleProblem('invalid_input', { errors: { currency: 'unknown' } });
      await setMessagePrice(context.database, actor, body);
    },
  }),
];
