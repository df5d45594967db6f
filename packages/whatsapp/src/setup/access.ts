import { TOKEN_SCOPES } from '@onecode/domain';
import type { GraphCall } from '../graphCalls.js';
import { elements, members } from '../json.js';
import type { SetupOptions } from './options.js';
import { adviceOn, refused, step, SYSTEM_USERS, type SetupStep } from './steps.js';

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
  const data = members(result.value['data']);
  const { is_valid: isValid, scopes, expires_at: expiresAt, app_id: app } = data;
  const appId = typeof app === 'string' && app !== '' ? app : null;
  if (isValid === false) {
    const detail = 'Meta does not accept the access token. Create one for a system user.';
    return { step: step('token', 'needs_you', detail, 'token_invalid', SYSTEM_USERS), appId };
  }
  const given = elements(scopes);
  const missing = Array.isArray(scopes) ? TOKEN_SCOPES.filter((scope) => !given.includes(scope)) : [];
  if (missing.length > 0) {
    const detail = `The access token lacks the permissions ${missing.join(' and ')}.`;
    return { step: step('token', 'needs_you', detail, 'token_permissions', SYSTEM_USERS), appId };
  }
  const end =
    typeof expiresAt === 'number' && expiresAt > 0
      ? ` It expires at ${new Date(expiresAt * 1000).toISOString()}: use a token that does not expire.`
      : '';
  return {
    step: step(
      'token',
      'already',
      `Meta accepts the access token.${end}`,
      end === '' ? 'token_accepted' : null,
    ),
    appId,
  };
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
