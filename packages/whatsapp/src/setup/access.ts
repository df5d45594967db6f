import { TOKEN_SCOPES, type NumberValues } from '@onecode/domain';
import { readToken } from '../graph.js';
import type { GraphCall } from '../client.js';
import { elements, members } from '../json.js';
import type { SetupOptions } from './options.js';
import { englishStep, refused, step, SYSTEM_USERS, type SetupStep } from './steps.js';

/** Checks the token. @returns the step, and the id of the token's app if Meta reports it */
export async function checkToken(
  call: GraphCall,
  token: string,
): Promise<{ step: SetupStep; appId: string | null }> {
  const read = await readToken(call, token);
  if ('value' in read) return { step: tokenStep(read.value), appId: read.appId };
  // Some tokens are not allowed to inspect themselves. The later calls show whether the token works.
  const failed = read.isTemporary
    ? refused('token', 'The token could not be checked.', read)
    : englishStep('token', 'already', `The token could not be inspected. ${read.failure}`);
  return { step: failed, appId: null };
}

function tokenStep({ isValid, scopes, expiresAt }: NumberValues['token']): SetupStep {
  if (!isValid) return step('token', 'needs_you', 'token_invalid', {}, SYSTEM_USERS);
  const missing = TOKEN_SCOPES.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    return step('token', 'needs_you', 'token_permissions', { scopes: missing.join(', ') }, SYSTEM_USERS);
  if (expiresAt === 0) return step('token', 'already', 'token_accepted');
  return step('token', 'already', 'token_expires', { at: new Date(expiresAt * 1000).toISOString() });
}

/** Subscribes the token's app to the business account, so that Meta sends it webhooks. */
export async function subscribe(
  call: GraphCall,
  { token, businessAccountId, isDryRun }: SetupOptions,
  appId: string | null,
): Promise<SetupStep> {
  const name = 'subscription';
  const node = `${businessAccountId}/subscribed_apps`;
  const subscribed = await call(token, node, { query: {} });
  if ('failure' in subscribed) return refused(name, 'The subscriptions could not be read.', subscribed);
  const ids = elements(subscribed.value['data']).map(
    (app) => members(members(app)['whatsapp_business_api_data'])['id'],
  );
  if (appId === null ? ids.length > 0 : ids.includes(appId))
    return step(name, 'already', 'subscribed_before');
  if (isDryRun) return step(name, 'waiting', 'would_subscribe');
  const result = await call(token, node, { body: {} });
  return 'failure' in result
    ? refused(name, 'The app could not be subscribed.', result)
    : step(name, 'done', 'subscribed');
}
