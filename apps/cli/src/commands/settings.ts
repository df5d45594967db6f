import { changeSetting, readSettings, SETTING_BOUNDS, type Settings } from '@onecode/store';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { limit, oneOf, wholeNumber } from '../arguments.js';
import { withDatabase } from '../database.js';
import { print, type Row } from '../output.js';

const FIELDS = {
  free_sends: 'freeSends',
  code_validity_seconds: 'codeValiditySeconds',
  account_rate_per_minute: 'accountRatePerMinute',
  guess_budget: 'guessBudget',
  trial_sends_per_day: 'trialSendsPerDay',
  sign_ups_per_network_day: 'signUpsPerNetworkDay',
  sign_ups_per_domain_day: 'signUpsPerDomainDay',
} as const satisfies Record<string, keyof Settings>;
type SettingName = keyof typeof FIELDS;
const NAMES = Object.keys(FIELDS) as SettingName[];

/** NIST SP 800-63B-4, 3.2.2. */
const GUESS_BUDGET_INITIAL = 100;

const rowOf = (settings: Settings): Row =>
  Object.fromEntries(NAMES.map((name) => [name, settings[FIELDS[name]]]));

function boundsLine(name: SettingName): string {
  const { min, max } = SETTING_BOUNDS[FIELDS[name]];
  return `  ${name.padEnd(25)} ${min} to ${max}${name === 'guess_budget' ? ', or off' : ''}`;
}

function valueOf(name: SettingName, typed: string): number | null {
  const bounds = SETTING_BOUNDS[FIELDS[name]];
  if (name !== 'guess_budget') return wholeNumber(name, bounds)(typed);
  const value = limit(name, bounds, GUESS_BUDGET_INITIAL)(typed);
  return value === 'off' ? null : value;
}

/** `settings get` and `set`. */
export function addSettingsCommands(program: Command): void {
  const settings = program
    .command('settings')
    .description('settings for everybody; running processes follow within five seconds')
    .addHelpText('after', '\nExample:\n  $ onecode settings get');

  settings
    .command('get')
    .description('show the settings')
    .addHelpText('after', '\nExample:\n  $ onecode settings get --json')
    .action(async (_options: object, command: Command) => {
      print(command, rowOf(await withDatabase(readSettings)), { absent: 'off' });
    });

  settings
    .command('set')
    .description('change a setting')
    .argument('<setting>', NAMES.join(', '), oneOf('the setting', NAMES))
    .argument('<value>', 'a whole number, or off where the setting may be')
    .addHelpText(
      'after',
      `\nSettings:\n${NAMES.map(boundsLine).join('\n')}\n\nExample:\n  $ onecode settings set free_sends 25`,
    )
    .action(async (name: SettingName, typed: string, _options: object, command: Command) => {
      const value = valueOf(name, typed);
      const changed = await withDatabase((database) => changeSetting(database, actor(), FIELDS[name], value));
      print(command, rowOf(changed), {
        absent: 'off',
        note:
          name === 'code_validity_seconds'
            ? `The expiry that WhatsApp shows is fixed in each sender's template: it has to fit ${value} seconds.`
            : undefined,
      });
    });
}
