import type { Route } from '../http/route.js';
import { applicationRoutes } from './applications/routes.js';
import { auditRoutes } from './audit/routes.js';
import { authRoutes } from './auth/routes.js';
import { costRoutes } from './costs/routes.js';
import { recipientRoutes } from './recipients/routes.js';
import { healthRoutes } from './health/routes.js';
import { ledgerRoutes } from './ledger/routes.js';
import { overviewRoutes } from './overview/routes.js';
import { profileRoutes } from './profile/routes.js';
import { protectionRoutes } from './protection/routes.js';
import { refusedRequestRoutes } from './refusedRequests/routes.js';
import { senderRoutes } from './senders/routes.js';
import { sendRoutes } from './sends/routes.js';
import { searchRoutes } from './search/routes.js';
import { sessionRoutes } from './session/routes.js';
import { settingsRoutes } from './settings/routes.js';
import { accountRoutes } from './accounts/routes.js';
import { holdRoutes } from './holds/routes.js';
import { teamRoutes } from './team/routes.js';
import { userRoutes } from './users/routes.js';
import { tryoutRoutes } from './tryout/routes.js';
import { webhookRoutes } from './webhook/routes.js';

/** Every route of the console. The tests of the tenant boundary and of hostile input iterate over this list. */
export const ROUTES: readonly Route[] = [
  ...applicationRoutes,
  ...authRoutes,
  ...recipientRoutes,
  ...ledgerRoutes,
  ...overviewRoutes,
  ...profileRoutes,
  ...protectionRoutes,
  ...refusedRequestRoutes,
  ...sendRoutes,
  ...searchRoutes,
  ...sessionRoutes,
  ...auditRoutes,
  ...costRoutes,
  ...healthRoutes,
  ...senderRoutes,
  ...settingsRoutes,
  ...accountRoutes,
  ...holdRoutes,
  ...teamRoutes,
  ...tryoutRoutes,
  ...userRoutes,
  ...webhookRoutes,
];
