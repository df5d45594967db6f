import { Type } from 'typebox';
import {
  findEventWebhook,
  findMemberRole,
  listEventDeliveries,
  removeEventWebhook,
  repeatEvent,
  rotateEventSecret,
  setEventWebhook,
  testEventWebhook,
} from '@onecode/store';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import type { WebhookSecretView } from './view.js';

const PATH = '/accounts/:account/webhook';

/**
 * The address as URLs are written. Where a name leads is judged by the worker that connects.
 *
 * @param allowed see `EVENT_ADDRESSES`
 * @throws ConsoleProblem `invalid_input`
 */
function addressOf(text: string, allowed: 'public' | 'any'): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAllowed = url?.protocol === 'https:' || (allowed === 'any' && url?.protocol === 'http:');
  if (url === null || !isAllowed || url.username !== '' || url.password !== '' || url.href.length > 2_000)
    throw new ConsoleProblem('invalid_input', { errors: { url: 'https' } });
  url.hash = '';
  return url.href;
}

/** The webhook that gets an account's events, in the hands of its admins. */
export const webhookRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: PATH,
    access: 'viewer',
    async handle({ context: { database }, accountId, person }) {
      const [webhook, deliveries, role] = await Promise.all([
        findEventWebhook(database, accountId),
        listEventDeliveries(database, accountId),
        findMemberRole(database, accountId, person.id),
      ]);
      // Its path and its query may hold secrets.
      const url = (full: string): string => (role === 'admin' ? full : new URL(full).origin);
      return { webhook: webhook && { ...webhook, url: url(webhook.url) }, deliveries };
    },
  }),
  route({
    method: 'put',
    path: PATH,
    access: 'admin',
    body: Type.Object({ url: Type.String({ maxLength: 2_000 }) }, { additionalProperties: false }),
    async handle({ context: { database, config }, actor, accountId, body }): Promise<WebhookSecretView> {
      const url = addressOf(body.url.trim(), config.EVENT_ADDRESSES);
      const set = await setEventWebhook(database, actor, config.SECRET_KEY, accountId, url);
      return orNotFound(set === 'unknown' ? null : set);
    },
  }),
  route({
    method: 'delete',
    path: PATH,
    access: 'admin',
    async handle({ context, actor, accountId }) {
      orNotFound((await removeEventWebhook(context.database, actor, accountId)) || null);
    },
  }),
  route({
    method: 'post',
    path: `${PATH}/secret`,
    access: 'admin',
    async handle({ context: { database, config }, actor, accountId }): Promise<WebhookSecretView> {
      return { secret: orNotFound(await rotateEventSecret(database, actor, config.SECRET_KEY, accountId)) };
    },
  }),
  route({
    method: 'post',
    path: `${PATH}/test`,
    access: 'admin',
    async handle({ context, accountId }) {
      if (!(await testEventWebhook(context.database, accountId))) throw new ConsoleProblem('conflict');
    },
  }),
  route({
    method: 'post',
    path: `${PATH}/deliveries/:delivery/again`,
    access: 'admin',
    async handle({ context, accountId, params }) {
      const isRepeated = await repeatEvent(context.database, accountId, params['delivery'] ?? '');
      orNotFound(isRepeated || null);
    },
  }),
];
