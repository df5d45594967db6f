import { verifyLedger, type LedgerFault } from '@onecode/store/reports';
import type { Command } from 'commander';
import { commandGroup } from '../arguments.js';
import { withDatabase } from '../database.js';
import { NotOk } from '../errors.js';
import { example, pickFields, print, type Row } from '../output.js';

const FAULTS_MAX = 1_000;
/** `ledger verify` reads every entry and every send. */
const TIMEOUTS = { connectionMs: 3_000, statementMs: 3_600_000 };

export function addLedgerCommands(program: Command): void {
  const add = commandGroup(
    program,
    'ledger',
    'the ledger of granted, reserved, refunded and reclaimed units',
    'ledger verify',
  );
  add('verify', 'compare every balance and every live send with the ledger; exit code 1 if they differ')
    .addHelpText('after', example('ledger verify --json'))
    .action(async (_options: object, command: Command) => {
      const { faults, ...counts } = await withDatabase((database) => verifyLedger(database, FAULTS_MAX), {
        timeouts: TIMEOUTS,
      });
      print(command, { ...counts, faults: faults.map(formatFault) }, { absent: 'none', apart: 'faults' });
      if (faults.length > 0) throw new NotOk();
    });
}

const formatFault = (fault: LedgerFault): Row =>
  'sendId' in fault
    ? {
        ...pickFields(fault, 'accountId', 'sendId', 'reserved', 'returned', 'reclaimed'),
        failed: fault.isFailed,
      }
    : pickFields(fault, 'accountId', 'bucket', 'balance', 'ledger');
