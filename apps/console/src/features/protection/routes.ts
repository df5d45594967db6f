import { CEILING_BOUNDS, changeAccount, findAccount, resetBreaker } from '@onecode/store/accounts';
import { listBreakerTrips } from '@onecode/store/reports';
import { Type } from 'typebox';
import { countriesField, readCountries, strictObject } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Access, type Route } from '../../http/route.js';
import { protectionView } from './view.js';

/** Null means no ceiling. */
const CEILING = Type.Union([
  Type.Integer({ minimum: CEILING_BOUNDS.min, maximum: CEILING_BOUNDS.max }),
  Type.Null(),
]);

/** The routes below an account's path, with the roles that may read and change. */
const routesBelow = (account: string, sees: Access, changes: Access): readonly Route[] => [
  route('get', `${account}/protection`, sees, {
    async handle({ context: { database }, accountId }) {
      const [account, trips] = await Promise.all([
        findAccount(database, accountId),
        listBreakerTrips(database, accountId),
      ]);
      return protectionView(orNotFound(account), trips);
    },
  }),
  route('put', `${account}/protection/countries`, changes, {
    body: strictObject({
      // Null allows every country.
      countries: Type.Union([countriesField(300), Type.Null()]),
    }),
    async handle({ context, actor, accountId, body: { countries } }) {
      const allowedCountries = countries && readCountries(countries);
      orNotFound(await changeAccount(context.database, actor, accountId, { allowedCountries }));
    },
  }),
  route('put', `${account}/protection/premium-rate`, changes, {
    body: strictObject({ isAllowed: Type.Boolean() }),
    async handle({ context, actor, accountId, body }) {
      const change = { allowsPremiumRate: body.isAllowed };
      orNotFound(await changeAccount(context.database, actor, accountId, change));
    },
  }),
  route('put', `${account}/protection/ceilings`, changes, {
    body: strictObject({ unitsPerDay: CEILING, unitsPerMonth: CEILING }),
    async handle({ context, actor, accountId, body }) {
      orNotFound(await changeAccount(context.database, actor, accountId, body));
    },
  }),
  route('put', `${account}/protection/breaker`, changes, {
    body: strictObject({
      // Null turns it off.
      rule: Type.Union([
        strictObject({
          unverifiedPercent: Type.Integer({ minimum: 1, maximum: 100 }),
          minSends: Type.Integer({ minimum: 1, maximum: 1_000 }),
        }),
        Type.Null(),
      ]),
    }),
    async handle({ context, actor, accountId, body }) {
      orNotFound(await changeAccount(context.database, actor, accountId, { breaker: body.rule }));
    },
  }),
  route('post', `${account}/protection/breaker/reset`, changes, {
    async handle({ context, actor, accountId }) {
      orNotFound(await resetBreaker(context.database, actor, accountId));
    },
  }),
];

/** The protection of an account from abuse, for its members and for staff. */
export const protectionRoutes: readonly Route[] = [
  ...routesBelow('/accounts/:account', 'viewer', 'admin'),
  ...routesBelow('/staff/accounts/:target', 'on_call', 'operator'),
];
