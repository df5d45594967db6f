import { acknowledgeIncident } from '@onecode/store/operations';
import { Type } from 'typebox';
import { nameField, strictObject } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { healthView } from './view.js';

/** The health of Onecode, Redis, PostgreSQL and Meta. */
export const healthRoutes: readonly Route[] = [
  route('get', '/staff/health', 'on_call', {
    async handle({ context }) {
      return healthView(await context.readHealth(), new Date());
    },
  }),
  route('post', '/staff/health/incidents/:incident/acknowledge', 'on_call', {
    body: strictObject({ note: Type.Optional(nameField(200)) }),
    async handle({ context, actor, params, body: { note } }) {
      const id = params['incident'] ?? '';
      orNotFound(await acknowledgeIncident(context.database, actor, id, note?.trim() ?? null));
    },
  }),
];
