import type { Route } from '../route.js';
import { applicationRoutes } from './applications.js';
import { auditRoutes } from './audit.js';
import { entryRoutes } from './entry.js';
import { exhaustedRecipientRoutes } from './exhaustedRecipients.js';
import { healthRoutes } from './health.js';
import { ledgerRoutes } from './ledger.js';
import { overviewRoutes } from './overview.js';
import { profileRoutes } from './profile.js';
import { senderRoutes } from './senders.js';
import { sendRoutes } from './sends.js';
import { sessionRoutes } from './session.js';
import { settingsRoutes } from './settings.js';
import { staffAccountRoutes } from './staffAccounts.js';
import { staffSendRoutes } from './staffSends.js';
import { switchRoutes } from './switches.js';
import { teamRoutes } from './team.js';

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
