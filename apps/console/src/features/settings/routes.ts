import { Type, type TSchema } from 'typebox';
import {
  changeSetting,
  readSettings,
  readTrialSends,
  SETTING_BOUNDS,
  STAFF_TWO_FACTOR,
  type NumericSetting,
} from '@onecode/store/accounts';
import { strictObject } from '../../http/fields.js';
import { ConsoleProblem } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import type { SettingsView } from './view.js';

const within = (name: NumericSetting) => {
  const { min, max } = SETTING_BOUNDS[name];
  return Type.Integer({ minimum: min, maximum: max });
};
const orOff = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const settingsRoutes: readonly Route[] = [
  route('get', '/staff/settings', 'on_call', {
    async handle({ context: { database } }): Promise<SettingsView> {
      const [settings, { sends }] = await Promise.all([readSettings(database), readTrialSends(database)]);
      return { settings, bounds: SETTING_BOUNDS, trialSendsToday: sends };
    },
  }),
  route('put', '/staff/settings', 'operator', {
    // A setting that is left out stays as it is: two operators who change different settings do not undo each other's change.
    body: Type.Partial(
      Type.Object({
        freeSends: within('freeSends'),
        codeValiditySeconds: within('codeValiditySeconds'),
        accountRatePerMinute: within('accountRatePerMinute'),
        guessBudget: orOff(within('guessBudget')),
        trialSendsPerDay: within('trialSendsPerDay'),
        trialAccountSendsPerDay: within('trialAccountSendsPerDay'),
        signUpsPerNetworkDay: within('signUpsPerNetworkDay'),
        signUpsPerDomainDay: within('signUpsPerDomainDay'),
        retainNumbersDays: orOff(within('retainNumbersDays')),
        retainSendsDays: orOff(within('retainSendsDays')),
        newAccountUnitsPerDay: orOff(within('newAccountUnitsPerDay')),
      }),
      { additionalProperties: false },
    ),
    async handle({ context, actor, body }) {
      for (const [name, value] of Object.entries(body) as [NumericSetting, number][])
        await changeSetting(context.database, actor, name, value);
    },
  }),
  route('put', '/staff/settings/staff-two-factor', 'operator', {
    confirmed: true,
    body: strictObject({ staffTwoFactor: Type.Enum([...STAFF_TWO_FACTOR]) }),
    async handle({ context, actor, person, body: { staffTwoFactor } }) {
      // Otherwise the setting would lock out the very operator who made it, and perhaps everybody.
      if (staffTwoFactor === 'required' && !person.showedBothFactors)
        throw new ConsoleProblem('second_factor_required');
      await changeSetting(context.database, actor, 'staffTwoFactor', staffTwoFactor);
    },
  }),
];
