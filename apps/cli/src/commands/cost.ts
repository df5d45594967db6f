import { listMessageCosts, type MessageCost } from '@onecode/store';
import type { Command } from 'commander';
import { wholeNumber } from '../arguments.js';
import { withDatabase } from '../database.js';
import { example, print, type Row } from '../output.js';

const DAYS = { min: 1, max: 366 };
const DAYS_INITIAL = 30;

const rowOf = ({ pricingModel, freeSends, ...cost }: MessageCost): Row => ({
  day: cost.day,
  country: cost.country,
  category: cost.category,
  type: cost.type,
  billable: cost.billable,
  pricing_model: pricingModel,
  messages: cost.messages,
  free_sends: freeSends,
  credits: cost.credits,
});

/** `cost list`. */
export function addCostCommands(program: Command): void {
  program
    .command('cost')
    .description('what Meta charges for messages, beside what customers were charged')
    .addHelpText('after', example('cost list'))
    .command('list')
    .description('count messages by day (UTC), country and price, newest day first')
    .option('--days <number>', 'of so many days, today included', wholeNumber('--days', DAYS), DAYS_INITIAL)
    .addHelpText('after', example('cost list --days 7 --json'))
    .action(async ({ days }: { days: number }, command: Command) => {
      const costs = await withDatabase((database) => listMessageCosts(database, days));
      print(command, costs.map(rowOf));
    });
}
