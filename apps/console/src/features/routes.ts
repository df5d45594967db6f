import type { Route } from '../http/route.js';
import { applicationRoutes } from './applications/routes.js';
import { auditRoutes } from './audit/routes.js';
import { entryRoutes } from './auth/routes.js';
import { exhaustedRecipientRoutes } from './recipients/routes.js';
import { healthRoutes } from './health/routes.js';
import { ledgerRoutes } from './ledger/routes.js';
import { overviewRoutes } from './overview/routes.js';
import { profileRoutes } from './profile/routes.js';
import { senderRoutes } from './senders/routes.js';
import { sendRoutes } from './sends/routes.js';
import { sessionRoutes } from './session/routes.js';
import { settingsRoutes } from './settings/routes.js';
import { staffAccountRoutes } from './accounts/routes.js';
import { staffSendRoutes } from './sends/staffRoutes.js';
import { switchRoutes } from './holds/routes.js';
import { teamRoutes } from './team/routes.js';

/** Every route of the console, so that a test can walk over all of them. */
export const ROUTES: readonly Route[] = [
  ...applicationRoutes,
  ...entryRoutes,
  ...exhaustedRecipientRoutes,
  ...ledgerRoutes,
  ...overviewRoutes,
  ...profileRoutes,
  ...sendRoutes,
  ...sessionRoutes,
  ...auditRoutes,
  ...healthRoutes,
  ...senderRoutes,
  ...settingsRoutes,
  ...staffAccountRoutes,
  ...staffSendRoutes,
  ...switchRoutes,
  ...teamRoutes,
];
