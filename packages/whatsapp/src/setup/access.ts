import { TOKEN_SCOPES } from '@onecode/domain';
import { tokenValues } from '../graph.js';
import type { GraphCall } from '../graphCalls.js';
import { elements, members } from '../json.js';
import type { SetupOptions } from './options.js';
import { adviceOn, refused, step, SYSTEM_USERS, type SetupStep, type SetupText } from './steps.js';

/** Checks the token. @returns the step, and the id of the token's app if Meta reports it */
export async function checkToken(
  call: GraphCall,
  token: string,
): Promise<{ step: SetupStep; appId: string | null }> {
  const result = await call(token, 'debug_token', { query: { input_token: token } });
  if ('failure' in result) {
    const advice = adviceOn(result);
    // Some tokens are not allowed to inspect themselves. The later calls show whether the token works.
    return advice.link === undefined && !result.isTemporary
      ? { step: step('token', 'already', `The token could not be inspected. ${result.failure}`), appId: null }
      : { step: refused('token', 'The token could not be checked.', result), appId: null };
  }
  const { isValid, scopes, expiresAt } = tokenValues(result.value);
  const app = members(result.value['data'])['app_id'];
  const appId = typeof app === 'string' ? app : null;
  const needsYou = (detail: string, text: SetupText) => ({
    step: step('token', 'needs_you', detail, text, SYSTEM_USERS),
    appId,
  });
  if (!isValid)
    return needsYou('Meta does not accept the access token. Create one for a system user.', 'token_invalid');
  const missing = TOKEN_SCOPES.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    return needsYou(`The access token lacks the permissions ${missing.join(' and ')}.`, 'token_permissions');
  if (expiresAt === 0)
    return { step: step('token', 'already', 'Meta accepts the access token.', 'token_accepted'), appId };
  const end = new Date(expiresAt * 1000).toISOString();
  const detail = `Meta accepts the access token. It expires at ${end}: use a token that does not expire.`;
  return { step: step('token', 'already', detail), appId };
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
    return step(
      name,
      'already',
      'Meta sends webhooks of the business account to the app.',
      'subscribed_before',
    );
  if (isDryRun)
    return step(name, 'waiting', 'Would subscribe the app to the business account.', 'would_subscribe');
  const result = await call(token, node, { body: {} });
  if ('failure' in result) return refused(name, 'The app could not be subscribed.', result);
  const detail = 'The app is subscribed: Meta sends webhooks of the business account to it.';
  return step(name, 'done', detail, 'subscribed');
}
