import { Type } from 'typebox';
import {
  findEventWebhook,
  listEventDeliveries,
  removeEventWebhook,
  repeatEvent,
  rotateEventSecret,
  setEventWebhook,
  takeEvent,
  testEventWebhook,
} from '@onecode/store/mails';
import { findMemberRole } from '@onecode/store/users';
import { clientAddress, networkOf } from '../../http/clientAddress.js';
import { strictObject } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Call, type Route } from '../../http/route.js';
import type { WebhookSecretView } from './view.js';

const PATH = '/accounts/:account/webhook';

/**
 * Checks the syntax of the address. The worker that connects checks the IP address to which the name resolves.
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

/** The webhook that gets an account's events, for its admins. */
export const webhookRoutes: readonly Route[] = [
  route('get', PATH, 'viewer', {
    async handle({ context: { database }, accountId, person }) {
      const [webhook, deliveries, role] = await Promise.all([
        findEventWebhook(database, accountId),
        listEventDeliveries(database, accountId),
        findMemberRole(database, accountId, person.id),
      ]);
      // Its path and query may contain secrets.
      const url = (full: string): string => (role === 'admin' ? full : new URL(full).origin);
      return { webhook: webhook && { ...webhook, url: url(webhook.url) }, deliveries };
    },
  }),
  route('put', PATH, 'admin', {
    body: strictObject({ url: Type.String({ maxLength: 2_000 }) }),
    async handle({ context: { database, config }, actor, accountId, body }): Promise<WebhookSecretView> {
      const url = addressOf(body.url.trim(), config.EVENT_ADDRESSES);
      return orNotFound(await setEventWebhook(database, actor, config.SECRET_KEY, accountId, url));
    },
  }),
  route('delete', PATH, 'admin', {
    async handle({ context, actor, accountId }) {
      orNotFound(await removeEventWebhook(context.database, actor, accountId));
    },
  }),
  route('post', `${PATH}/secret`, 'admin', {
    async handle({ context: { database, config }, actor, accountId }): Promise<WebhookSecretView> {
      return { secret: orNotFound(await rotateEventSecret(database, actor, config.SECRET_KEY, accountId)) };
    },
  }),
  route('post', `${PATH}/test`, 'admin', {
    async handle(call) {
      const { context, accountId } = call;
      await countEvent(call);
      if (!(await testEventWebhook(context.database, accountId))) throw new ConsoleProblem('conflict');
    },
  }),
  route('post', `${PATH}/deliveries/:delivery/again`, 'admin', {
    async handle(call) {
      const { context, accountId, params } = call;
      await countEvent(call);
      orNotFound(await repeatEvent(context.database, accountId, params['delivery'] ?? ''));
    },
  }),
];

/** Counts an event that a user sent by hand. @throws LimitReached */
function countEvent({ context, request, accountId, person }: Call): Promise<void> {
  const network = networkOf(clientAddress(request));
  return takeEvent(context.database, { accountId, userId: person.id, network });
}
