import { Type, type TSchema } from 'typebox';
import {
  changeSetting,
  readSettings,
  readTrialSends,
  SETTING_BOUNDS,
  STAFF_TWO_FACTOR,
  type NumericSetting,
} from '@onecode/store';
import { ConsoleProblem } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { settingsView } from './view.js';

const within = (name: NumericSetting) => {
  const { min, max } = SETTING_BOUNDS[name];
  return Type.Integer({ minimum: min, maximum: max });
};
const orOff = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** What operators set for everybody. */
export const settingsRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/operations/settings',
    access: 'on_call',
    async handle({ context }) {
      const { database } = context;
      const [settings, { sends }] = await Promise.all([readSettings(database), readTrialSends(database)]);
      return settingsView(settings, sends);
    },
  }),
  route({
    method: 'put',
    path: '/operations/settings',
    access: 'operator',
    // What is left out stays as it is: two operators who change different settings do not undo each other.
    body: Type.Partial(
      Type.Object({
        freeSends: within('freeSends'),
        codeValiditySeconds: within('codeValiditySeconds'),
        accountRatePerMinute: within('accountRatePerMinute'),
        guessBudget: orOff(within('guessBudget')),
        trialSendsPerDay: within('trialSendsPerDay'),
        signUpsPerNetworkDay: within('signUpsPerNetworkDay'),
        signUpsPerDomainDay: within('signUpsPerDomainDay'),
      }),
      { additionalProperties: false },
    ),
    async handle({ context, actor, body }) {
      for (const [name, value] of Object.entries(body) as [NumericSetting, number][])
        await changeSetting(context.database, actor, name, value);
    },
  }),
  route({
    method: 'put',
    path: '/operations/settings/staff-two-factor',
    access: 'operator',
    confirmed: true,
    body: Type.Object({ staffTwoFactor: Type.Enum([...STAFF_TWO_FACTOR]) }, { additionalProperties: false }),
    async handle({ context, actor, person, body: { staffTwoFactor } }) {
      // Or the first thing that it does is to keep out whoever set it, and perhaps everybody.
      if (staffTwoFactor === 'required' && !person.hasTwoFactor)
        throw new ConsoleProblem('second_factor_required');
      await changeSetting(context.database, actor, 'staffTwoFactor', staffTwoFactor);
    },
  }),
];
