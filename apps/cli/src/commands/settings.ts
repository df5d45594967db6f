import { findValidityConflict } from '@onecode/domain';
import {
  changeSettings,
  readSettings,
  SETTING_BOUNDS,
  STAFF_TWO_FACTOR,
  type NumericSetting,
  type Settings,
} from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import { listSenderKnowledge, listSenders } from '@onecode/store/senders';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { commandGroup, limit, oneOf, wholeNumber } from '../arguments.js';
import { withDatabase } from '../database.js';
import { alignColumns, example, print, type Row } from '../output.js';

const NUMBERS = {
  free_sends: 'freeSends',
  code_validity_seconds: 'codeValiditySeconds',
  account_rate_per_minute: 'accountRatePerMinute',
  guess_budget: 'guessBudget',
  trial_sends_per_day: 'trialSendsPerDay',
  trial_account_sends_per_day: 'trialAccountSendsPerDay',
  sign_ups_per_network_day: 'signUpsPerNetworkDay',
  sign_ups_per_domain_day: 'signUpsPerDomainDay',
  retain_numbers_days: 'retainNumbersDays',
  retain_sends_days: 'retainSendsDays',
} as const satisfies Record<string, NumericSetting>;
const FIELDS = {
  ...NUMBERS,
  staff_two_factor: 'staffTwoFactor',
} as const satisfies Record<string, keyof Settings>;
/** The settings for which null means off. */
type OptionalSetting = {
  [Name in NumericSetting]: null extends Settings[Name] ? Name : never;
}[NumericSetting];
type NumberName = keyof typeof NUMBERS;
type SettingName = keyof typeof FIELDS;
const NAMES = Object.keys(FIELDS) as SettingName[];

/** The values for `on`. The guess budget's is from NIST SP 800-63B-4, 3.2.2. */
const INITIAL: Readonly<Record<OptionalSetting, number>> = {
  guessBudget: 100,
  retainNumbersDays: 90,
  retainSendsDays: 365,
};

const formatSettings = (settings: Settings): Row =>
  Object.fromEntries(NAMES.map((name) => [name, settings[FIELDS[name]]]));

const isNumber = (name: SettingName): name is NumberName => name in NUMBERS;
const isOptional = (name: NumericSetting): name is OptionalSetting => name in INITIAL;

/** Returns the lines of the help with the allowed values of each setting. */
const boundsLines = (): string[] =>
  alignColumns(
    NAMES.map((name) => [name, isNumber(name) ? formatBounds(name) : STAFF_TWO_FACTOR.join(' or ')]),
  ).map((line) => `  ${line}`);

function formatBounds(name: NumberName): string {
  const { min, max } = SETTING_BOUNDS[NUMBERS[name]];
  return `${min} to ${max}${isOptional(NUMBERS[name]) ? ', or off' : ''}`;
}

function parseValue(name: SettingName, typed: string): Settings[keyof Settings] {
  if (!isNumber(name)) return oneOf(name, STAFF_TWO_FACTOR)(typed);
  const bounds = SETTING_BOUNDS[NUMBERS[name]];
  const setting = NUMBERS[name];
  if (!isOptional(setting)) return wholeNumber(name, bounds)(typed);
  const value = limit(name, bounds, INITIAL[setting])(typed);
  return value === 'off' ? null : value;
}

export function addSettingsCommands(program: Command): void {
  const add = commandGroup(
    program,
    'settings',
    'global settings; running processes apply changes within five seconds',
    'settings get',
  );

  add('get', 'show the settings')
    .addHelpText('after', example('settings get --json'))
    .action(async (_options: object, command: Command) => {
      print(command, formatSettings(await withDatabase(readSettings)), {
        absent: 'off',
        areNamesTyped: true,
      });
    });

  add('set', 'change a setting')
    .argument('<setting>', NAMES.join(', '), oneOf('the setting', NAMES))
    .argument('<value>', 'a whole number, off or a word, see below')
    .addHelpText(
      'after',
      `\nSettings:\n${boundsLines().join('\n')}\n\nExample:\n  $ onecode settings set free_sends 25`,
    )
    .action(async (name: SettingName, typed: string, _options: object, command: Command) => {
      const value = parseValue(name, typed);
      const { changed, warnings } = await withDatabase(async (database) => ({
        changed: await changeSettings(database, actor(), { [FIELDS[name]]: value }),
        warnings: name === 'code_validity_seconds' ? await findTemplateWarnings(database, Number(value)) : [],
      }));
      print(command, formatSettings(changed), {
        absent: 'off',
        areNamesTyped: true,
        note:
          name === 'code_validity_seconds'
            ? `WhatsApp shows the expiry in each sender's template: it must match ${value} seconds.`
            : undefined,
      });
      for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
    });
}

/** Returns a warning for each template that contradicts the validity of codes, from the provider's latest reports. */
async function findTemplateWarnings(database: Database, validitySeconds: number): Promise<string[]> {
  const [senders, knowledge] = await Promise.all([listSenders(database), listSenderKnowledge(database)]);
  return knowledge.flatMap(({ senderId, template: name, templates }) => {
    const number = senders.find(({ id }) => id === senderId)?.number ?? senderId;
    return templates.flatMap(({ language, facts }) => {
      const template = `the template ${name} (${language}) of ${number}`;
      const { footerMinutes: minutes, ttlSeconds } = findValidityConflict(facts, validitySeconds) ?? {};
      return [
        ...(minutes === undefined
          ? []
          : [`the footer of ${template} shows ${minutes === null ? 'no expiry' : `${minutes} minutes`}`]),
        ...(ttlSeconds === undefined
          ? []
          : [`messages with ${template} are delivered for up to ${ttlSeconds} seconds`]),
      ];
    });
  });
}
