import { isCountryTarget } from '@onecode/domain';
import {
  listMessageCosts,
  listMonthlyCosts,
  type MessageCost,
  type MonthlyCost,
  PRICE_MAX,
  readMessagePrices,
  setMessagePrice,
} from '@onecode/store/reports';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import { commandGroup, id, matching, wholeNumber } from '../arguments.js';
import { withDatabase } from '../database.js';
import { UsageError } from '../errors.js';
import { example, pickFields, print, type Row } from '../output.js';

const DAYS = { min: 1, max: 366 };
const DAYS_INITIAL = 30;

const formatCost = (cost: MessageCost): Row => ({
  ...pickFields(cost, 'day', 'country', 'category', 'type', 'billable', 'pricingModel', 'accountId'),
  ...pickFields(cost, 'messages', 'freeSends', 'credits'),
});

const MONTHS = { min: 1, max: 120 };
const MONTHS_INITIAL = 12;
const THIS_MONTH = new Date().toISOString().slice(0, 7);

const formatMonth = (cost: MonthlyCost, currency: string | null): Row => ({
  ...pickFields(cost, 'month', 'country', 'messages', 'charged', 'price', 'amount'),
  currency,
  ...pickFields(cost, 'freeSends', 'credits'),
});

function country(typed: string): string {
  if (!isCountryTarget(typed)) throw new UsageError('the country must be a country code such as BR');
  return typed;
}

/** Parses a price in decimal notation, or `off`. */
function price(typed: string): number | 'off' {
  if (typed === 'off') return typed;
  const value = Number(typed);
  if (!/^[0-9]+(\.[0-9]{1,6})?$/.test(typed) || value > PRICE_MAX)
    throw new UsageError(`the price must be off or a number up to ${PRICE_MAX}, such as 0.0068`);
  return value;
}

export function addCostCommands(program: Command): void {
  const add = commandGroup(
    program,
    'cost',
    'what Meta charges for messages, compared with what customers were charged',
    'cost months',
  );

  add('list', 'count messages by day (UTC), country and price, newest day first')
    .option('--days <number>', 'number of days, including today', wholeNumber('--days', DAYS), DAYS_INITIAL)
    .addHelpText('after', example('cost list --days 7 --json'))
    .action(async ({ days }: { days: number }, command: Command) => {
      const costs = await withDatabase((database) => listMessageCosts(database, days));
      print(command, costs.map(formatCost));
    });

  add(
    'months',
    'sum messages of shared senders by month (UTC) and country, newest month first, with amounts where prices are set',
  )
    .option(
      '--months <number>',
      'number of months, including this one',
      wholeNumber('--months', MONTHS),
      MONTHS_INITIAL,
    )
    .option('--account <id>', "messages of this account's own senders instead", id('--account'))
    .addHelpText('after', example('cost months --json'))
    .action(async ({ months, account }: { months: number; account?: string }, command: Command) => {
      const [costs, { currency }] = await withDatabase((database) =>
        Promise.all([listMonthlyCosts(database, months, account), readMessagePrices(database)]),
      );
      print(
        command,
        costs.map((one) => formatMonth(one, currency)),
      );
    });

  add('price', 'set what Meta charges per message to a country, starting with a month')
    .argument('<country>', 'country code, such as BR', country)
    .argument('<price>', 'price of one message, or off', price)
    .requiredOption(
      '--currency <code>',
      'currency of all prices, such as USD',
      matching(/^[A-Z]{3}$/, 'a code such as USD')('--currency'),
    )
    .option(
      '--since <month>',
      'first month with this price',
      matching(/^20\d\d-(0[1-9]|1[0-2])$/, 'a month such as 2026-11')('--since'),
      THIS_MONTH,
    )
    .addHelpText('after', example('cost price BR 0.0068 --currency USD'))
    .action(
      async (
        of: string,
        value: number | 'off',
        { currency, since }: { currency: string; since: string },
        command: Command,
      ) => {
        const { prices } = await withDatabase(async (database) => {
          const price = value === 'off' ? null : value;
          await setMessagePrice(database, actor(), { country: of, since, price, currency });
          return readMessagePrices(database);
        });
        print(
          command,
          prices.map((one) => ({ ...one, currency })),
        );
      },
    );
}
