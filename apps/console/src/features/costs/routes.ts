import { Type } from 'typebox';
import { listMessageCosts } from '@onecode/store';
import { route, type Route } from '../../http/route.js';
import type { CostsView } from './view.js';

/** What the provider charges for messages, beside what customers were charged. */
export const costRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/staff/costs',
    access: 'on_call',
    query: Type.Object(
      { days: Type.Integer({ minimum: 1, maximum: 92, default: 30 }) },
      { additionalProperties: false },
    ),
    async handle({ context, query: { days } }): Promise<CostsView> {
      return { costs: await listMessageCosts(context.database, days) };
    },
  }),
];
