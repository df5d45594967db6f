import { Type } from 'typebox';
import { IDENTITY_CHECKS } from '@onecode/domain';
import {
  changeApplication,
  createApiKey,
  createApplication,
  findApplications,
  KEY_DAYS_MAX,
  listApiKeys,
  revokeApiKey,
  type Application,
} from '@onecode/store/accounts';
import { accountReading } from '../../http/accountReading.js';
import { nameField, strictObject, timeField } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Call, type Route } from '../../http/route.js';
import { applicationView, keyNoticeViews, keyView, type NewKeyView } from './view.js';

const NAME = nameField(200);
const LABEL = nameField(100);
const DAY_MS = 86_400_000;
const LIMIT = Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Null()]);

/** Applications of an account, their limits and their keys. */
export const applicationRoutes: readonly Route[] = [
  ...accountReading('get', '/applications', {
    async handle({ context, accountId }) {
      const applications = await findApplications(context.database, { accountId });
      return { applications: applications.map(applicationView) };
    },
  }),
  ...accountReading('get', '/key-notices', {
    async handle({ context, accountId }) {
      return { keys: keyNoticeViews(await listApiKeys(context.database, { accountId, areInUse: true })) };
    },
  }),
  route('post', '/accounts/:account/applications', 'developer', {
    body: strictObject({ name: NAME, mode: Type.Enum(['test', 'live']) }),
    async handle({ context, actor, accountId, body: { name, mode } }) {
      const wanted = { accountId, name: name.trim(), mode };
      const { id } = orNotFound(await createApplication(context.database, actor, wanted));
      return { id };
    },
  }),
  route('get', '/accounts/:account/applications/:application', 'viewer', {
    async handle(call) {
      return applicationView(await applicationOf(call));
    },
  }),
  route('put', '/accounts/:account/applications/:application', 'developer', {
    body: strictObject({ name: NAME }),
    async handle(call) {
      const { context, actor, body } = call;
      const { id } = await applicationOf(call);
      orNotFound(await changeApplication(context.database, actor, id, { name: body.name.trim() }));
    },
  }),
  route('put', '/accounts/:account/applications/:application/limits', 'developer', {
    body: strictObject({ perMinute: LIMIT, perRecipientHour: LIMIT }),
    async handle(call) {
      const { id } = await applicationOf(call);
      orNotFound(await changeApplication(call.context.database, call.actor, id, call.body));
    },
  }),
  route('put', '/accounts/:account/applications/:application/identity-check', 'developer', {
    body: strictObject({ identityCheck: Type.Enum([...IDENTITY_CHECKS]) }),
    async handle(call) {
      const { id } = await applicationOf(call);
      const { context, actor, body } = call;
      orNotFound(await changeApplication(context.database, actor, id, body));
    },
  }),
  route('get', '/accounts/:account/applications/:application/keys', 'viewer', {
    async handle(call) {
      const { id } = await applicationOf(call);
      return { keys: (await listApiKeys(call.context.database, { applicationId: id })).map(keyView) };
    },
  }),
  route('post', '/accounts/:account/applications/:application/keys', 'developer', {
    body: strictObject({ label: Type.Optional(LABEL), expiresAt: Type.Optional(timeField) }),
    async handle(call): Promise<NewKeyView> {
      const { context, actor, body } = call;
      const application = await applicationOf(call);
      const wanted = { name: body.label?.trim() ?? null, expiresAt: readExpiry(body.expiresAt) };
      const { id, key } = orNotFound(await createApiKey(context.database, actor, application.id, wanted));
      return { id, key };
    },
  }),
  route('post', '/accounts/:account/applications/:application/keys/:key/revoke', 'developer', {
    async handle(call) {
      const { context, actor, params } = call;
      const { id } = await applicationOf(call);
      const keys = await listApiKeys(context.database, { applicationId: id });
      const key = orNotFound(keys.find((one) => one.id === params['key']) ?? null);
      await revokeApiKey(context.database, actor, key.id);
    },
  }),
];

/** Returns when a new key expires; null if it does not. @throws ConsoleProblem `invalid_input` unless it lasts 1 to `KEY_DAYS_MAX` days */
function readExpiry(at: string | undefined): Date | null {
  if (at === undefined) return null;
  const expiresAt = new Date(at);
  const days = (expiresAt.getTime() - Date.now()) / DAY_MS;
  if (days < 1 || days > KEY_DAYS_MAX)
    throw new ConsoleProblem('invalid_input', { errors: { expiresAt: 'range' } });
  return expiresAt;
}

/** Returns the application in the path if it belongs to the account. @throws ConsoleProblem `not_found` */
export async function applicationOf({ context, accountId, params }: Call): Promise<Application> {
  const id = params['application'] ?? '';
  const [application] = await findApplications(context.database, { accountId, id });
  return orNotFound(application ?? null);
}
