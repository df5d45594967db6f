import accounts from './accounts.json';
import applications from './applications.json';
import audit from './audit.json';
import costs from './costs.json';
import health from './health.json';
import holds from './holds.json';
import ledger from './ledger.json';
import overview from './overview.json';
import preflight from './preflight.json';
import profile from './profile.json';
import providerErrors from './providerErrors.json';
import protection from './protection.json';
import recipients from './recipients.json';
import refusals from './refusals.json';
import refusedRequests from './refusedRequests.json';
import search from './search.json';
import senderSetup from './senderSetup.json';
import senders from './senders.json';
import sends from './sends.json';
import settings from './settings.json';
import start from './start.json';
import team from './team.json';
import tryout from './tryout.json';
import users from './users.json';
import webhook from './webhook.json';

/** All texts of the pages in this language, by feature, except those in `first.ts`. */
export const ptBR = {
  accounts,
  applications,
  audit,
  costs,
  health,
  holds,
  ledger,
  overview,
  preflight,
  profile,
  protection,
  providerErrors,
  recipients,
  refusals,
  refusedRequests,
  search,
  senderSetup,
  senders,
  sends,
  settings,
  start,
  team,
  tryout,
  users,
  webhook,
};
