import { COUNTRIES, isCountryTarget, type HoldTarget } from '@onecode/domain';
import { isId } from '@onecode/store/client';
import { placeHold, releaseHold } from '@onecode/store/holds';
import { readHeldSends } from '@onecode/store/reports';
import { Type, type Static } from 'typebox';
import { nameField, strictObject } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import type { CountriesView } from './view.js';

const BODY = strictObject({
  kind: Type.Enum(['live', 'country', 'account']),
  /** Empty for `live`, a country's code, or an account's id. */
  target: Type.String({ maxLength: 36, default: '' }),
  reason: nameField(200),
});

/** Holds: live sends that match a hold wait until it is released. */
export const holdRoutes: readonly Route[] = [
  route('get', '/staff/holds', 'on_call', {
    async handle({ context }) {
      return readHeldSends(context.database);
    },
  }),
  route('get', '/staff/countries', 'on_call', {
    async handle(): Promise<CountriesView> {
      return { countries: COUNTRIES };
    },
  }),
  route('post', '/staff/holds', 'on_call', {
    confirmed: true,
    body: BODY,
    async handle({ context, actor, body }) {
      const what = { ...targetOf(body), reason: body.reason.trim() };
      if ((await placeHold(context.database, actor, what)) === null)
        throw new ConsoleProblem('invalid_input', { errors: { target: 'unknown' } });
    },
  }),
  route('post', '/staff/holds/release', 'on_call', {
    confirmed: true,
    body: BODY,
    async handle({ context, actor, body }) {
      const what = { ...targetOf(body), releaseReason: body.reason.trim() };
      orNotFound(await releaseHold(context.database, actor, what));
    },
  }),
];

/** Checks that the target fits the kind of hold. @throws ConsoleProblem `invalid_input` */
function targetOf({ kind, target }: Static<typeof BODY>): HoldTarget {
  const isOfKind = { live: target === '', country: isCountryTarget(target), account: isId(target) };
  if (!isOfKind[kind]) throw new ConsoleProblem('invalid_input', { errors: { target: 'format' } });
  return { kind, target };
}
