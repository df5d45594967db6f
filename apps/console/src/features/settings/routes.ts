import { findValidityConflict } from '@onecode/domain';
import { Type, type TSchema } from 'typebox';
import {
  changeSettings,
  readSettings,
  readTrialSends,
  SETTING_BOUNDS,
  STAFF_TWO_FACTOR,
  type NumericSetting,
} from '@onecode/store/accounts';
import type { Connection } from '@onecode/store/client';
import { listSenderKnowledge, listSenders } from '@onecode/store/senders';
import { nameField, strictObject } from '../../http/fields.js';
import { ConsoleProblem } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import type { ConflictingTemplate, SettingsView } from './view.js';

/**
 * The bounds of the console. A shorter validity of codes may end before the message is read, and a longer one helps a person who has stolen
 * the phone. The command line accepts all of `SETTING_BOUNDS`, for tests of expiry.
 */
const BOUNDS = { ...SETTING_BOUNDS, codeValiditySeconds: { min: 60, max: 3_600 } };
/** One reason for all settings: each setting affects every account. */
const reason = nameField(200);

const within = (name: NumericSetting) => {
  const { min, max } = BOUNDS[name];
  return Type.Integer({ minimum: min, maximum: max });
};
const orOff = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const settingsRoutes: readonly Route[] = [
  route('get', '/staff/settings', 'on_call', {
    async handle({ context: { database } }): Promise<SettingsView> {
      const [settings, { sends }] = await Promise.all([readSettings(database), readTrialSends(database)]);
      return { settings, bounds: BOUNDS, trialSendsToday: sends };
    },
  }),
  route('get', '/staff/settings/conflicting-templates', 'on_call', {
    query: strictObject({ codeValiditySeconds: within('codeValiditySeconds') }),
    async handle({ context: { database }, query }) {
      return { templates: await listConflicts(database, query.codeValiditySeconds) };
    },
  }),
  route('put', '/staff/settings', 'operator', {
    // A setting can grant units to every new account, or delete old sends for good.
    confirmed: true,
    // Omitted settings do not change, so two operators who change different settings do not overwrite each other.
    body: strictObject(
      {
        reason,
        ...Type.Partial(
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
          } satisfies Record<NumericSetting, unknown>),
        ).properties,
      },
      // The reason and a setting.
      { minProperties: 2 },
    ),
    async handle({ context, actor, body: { reason, ...settings } }) {
      await changeSettings(context.database, actor, settings, reason.trim());
    },
  }),
  route('put', '/staff/settings/staff-two-factor', 'operator', {
    confirmed: true,
    body: strictObject({ staffTwoFactor: Type.Enum([...STAFF_TWO_FACTOR]), reason }),
    async handle({ context, actor, person, body: { staffTwoFactor, reason } }) {
      // Otherwise the setting would lock out the operator who made it, and possibly all staff.
      if (staffTwoFactor === 'required' && !person.showedBothFactors)
        throw new ConsoleProblem('second_factor_required');
      await changeSettings(context.database, actor, { staffTwoFactor }, reason.trim());
    },
  }),
];

/** Returns the templates that do not fit this code validity, as far as Meta has reported them. */
async function listConflicts(
  database: Connection,
  codeValiditySeconds: number,
): Promise<ConflictingTemplate[]> {
  const [senders, knowledge] = await Promise.all([listSenders(database), listSenderKnowledge(database)]);
  return knowledge.flatMap(({ senderId, template: name, templates }) =>
    templates.flatMap(({ language, facts }) => {
      const conflict = findValidityConflict(facts, codeValiditySeconds);
      const number = senders.find(({ id }) => id === senderId)?.number ?? senderId;
      return conflict === null ? [] : [{ ...conflict, number, name, language }];
    }),
  );
}
