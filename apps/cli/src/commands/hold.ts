import { isCountryTarget, NO_COUNTRY, type HoldTarget } from '@onecode/domain';
import { isId } from '@onecode/store/client';
import { placeHold, releaseHold, type Hold } from '@onecode/store/holds';
import { readHeldSends } from '@onecode/store/reports';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { commandGroup, oneOf, text } from '../arguments.js';
import { changed, withDatabase } from '../database.js';
import { UsageError, UserError } from '../errors.js';
import { example, pickFields, print, type Row } from '../output.js';

const KINDS = ['live', 'country', 'account'] as const;

const formatHold = (one: Hold): Row => ({
  kind: one.kind,
  target: one.target === '' ? null : one.target,
  ...pickFields(one, 'reason', 'since', 'setBy'),
});

/** Parses the target of a hold: none for `live`, a country code, or an account's id. */
function parseTarget(kind: HoldTarget['kind'], typed: string | undefined): HoldTarget {
  if (kind === 'live') {
    if (typed !== undefined) throw new UsageError('live takes no target');
    return { kind, target: '' };
  }
  if (kind === 'country') {
    const country = typed?.toUpperCase();
    if (country === undefined || !isCountryTarget(country))
      throw new UsageError(
        `the target must be a country code such as BR, or ${NO_COUNTRY} for numbers without a country`,
      );
    return { kind, target: country };
  }
  if (typed === undefined || !isId(typed))
    throw new UsageError("the target must be an account's id: 36 characters, lower case");
  return { kind, target: typed };
}

export function addHoldCommands(program: Command): void {
  const add = commandGroup(
    program,
    'hold',
    'holds: live sends wait until an operator releases them; to pause one sender, see sender pause',
    'hold set country BR --reason "traffic pumping"',
  );

  add('set', 'hold live sends: all, to one country, or of one account')
    .argument('<kind>', KINDS.join(', '), oneOf('the kind', KINDS))
    .argument('[target]', "a country code, or an account's id")
    .requiredOption('--reason <text>', 'reason, kept with the hold', text('--reason'))
    .addHelpText('after', example('hold set live --reason "the template was rejected"'))
    .action(
      async (
        kind: HoldTarget['kind'],
        typed: string | undefined,
        { reason }: { reason: string },
        command: Command,
      ) => {
        const target = parseTarget(kind, typed);
        print(
          command,
          formatHold(await changed('account', (...by) => placeHold(...by, { ...target, reason }))),
        );
      },
    );

  add('release', 'end a hold: waiting sends are sent immediately, unless another hold applies')
    .argument('<kind>', KINDS.join(', '), oneOf('the kind', KINDS))
    .argument('[target]', "a country code, or an account's id")
    .option('--reason <text>', 'kept in the audit log', text('--reason'))
    .addHelpText('after', example('hold release country BR'))
    .action(
      async (
        kind: HoldTarget['kind'],
        typed: string | undefined,
        { reason: releaseReason }: { reason?: string },
        command: Command,
      ) => {
        const what = { ...parseTarget(kind, typed), ...(releaseReason !== undefined && { releaseReason }) };
        const released = await withDatabase((database) => releaseHold(database, actor(), what));
        if (released === null) throw new UserError('there is no hold on this target');
        print(command, formatHold(released));
      },
    );

  add('list', 'list all holds, oldest first')
    .addHelpText('after', example('hold list --json'))
    .action(async (_options: object, command: Command) => {
      const { holds } = await withDatabase(readHeldSends);
      print(command, holds.map(formatHold));
    });
}
