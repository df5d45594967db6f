import {
  allowCostly,
  allowCountries,
  CEILING_BOUNDS,
  findAbuseControls,
  findAccount,
  listBreakerTrips,
  resetBreaker,
  setBreaker,
  setCeilings,
} from '@onecode/store';
import { Type } from 'typebox';
import { countriesField, readCountries } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Access, type Call, type Route } from '../../http/route.js';
import { protectionView } from './view.js';

const STRICT = { additionalProperties: false };
/** Null is no ceiling. */
const CEILING = Type.Union([
  Type.Integer({ minimum: CEILING_BOUNDS.min, maximum: CEILING_BOUNDS.max }),
  Type.Null(),
]);

/** The account in the path, for members (`:account`) and for staff (`:target`). */
const accountOf = ({ params }: Pick<Call, 'params'>): string => params['account'] ?? params['target'] ?? '';

/** The routes below an account's path, with who may see and who may change. */
const routesBelow = (account: string, sees: Access, changes: Access): readonly Route[] => [
  route({
    method: 'get',
    path: `${account}/protection`,
    access: sees,
    async handle(call) {
      const { database } = call.context;
      const id = accountOf(call);
      const [found, controls, trips] = await Promise.all([
        findAccount(database, id),
        findAbuseControls(database, id),
        listBreakerTrips(database, id),
      ]);
      return protectionView(orNotFound(found), orNotFound(controls), trips);
    },
  }),
  route({
    method: 'put',
    path: `${account}/protection/countries`,
    access: changes,
    body: Type.Object(
      {
        // Null is every country.
        countries: Type.Union([countriesField(300), Type.Null()]),
      },
      STRICT,
    ),
    async handle(call) {
      const { countries } = call.body;
      const allowed = countries && readCountries(countries);
      orNotFound(await allowCountries(call.context.database, call.actor, accountOf(call), allowed));
    },
  }),
  route({
    method: 'put',
    path: `${account}/protection/costly`,
    access: changes,
    body: Type.Object({ isAllowed: Type.Boolean() }, STRICT),
    async handle({ context, actor, params, body }) {
      orNotFound(await allowCostly(context.database, actor, accountOf({ params }), body.isAllowed));
    },
  }),
  route({
    method: 'put',
    path: `${account}/protection/ceilings`,
    access: changes,
    body: Type.Object({ unitsPerDay: CEILING, unitsPerMonth: CEILING }, STRICT),
    async handle({ context, actor, params, body }) {
      orNotFound(await setCeilings(context.database, actor, accountOf({ params }), body));
    },
  }),
  route({
    method: 'put',
    path: `${account}/protection/breaker`,
    access: changes,
    body: Type.Object(
      {
        // Null is off.
        rule: Type.Union([
          Type.Object(
            {
              unverifiedPercent: Type.Integer({ minimum: 1, maximum: 100 }),
              minSends: Type.Integer({ minimum: 1, maximum: 1_000 }),
            },
            STRICT,
          ),
          Type.Null(),
        ]),
      },
      STRICT,
    ),
    async handle(call) {
      orNotFound(await setBreaker(call.context.database, call.actor, accountOf(call), call.body.rule));
    },
  }),
  route({
    method: 'post',
    path: `${account}/protection/breaker/reset`,
    access: changes,
    async handle(call) {
      orNotFound(await resetBreaker(call.context.database, call.actor, accountOf(call)));
    },
  }),
];

/** What protects an account from abuse, for its members and for staff. */
export const protectionRoutes: readonly Route[] = [
  ...routesBelow('/accounts/:account', 'viewer', 'admin'),
  ...routesBelow('/staff/accounts/:target', 'on_call', 'operator'),
];
