import { Type, type TSchema } from 'typebox';
import { changeSetting, readSettings, readTrialSends, SETTING_BOUNDS, type Settings } from '@onecode/store';
import { route, type Route } from '../route.js';
import { settingsView } from '../views/settings.js';

const within = (name: keyof Settings) => {
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
      for (const [name, value] of Object.entries(body) as [keyof Settings, number | null][])
        await changeSetting(context.database, actor, name, value);
    },
  }),
];
