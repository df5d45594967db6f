import account from './account.json';
import audit from './audit.json';
import common from './common.json';
import entry from './entry.json';
import health from './health.json';
import overview from './overview.json';
import profile from './profile.json';
import senders from './senders.json';
import sends from './sends.json';
import staff from './staff.json';
import team from './team.json';

/** Every text of the pages in this language, by area. */
export const ptBR = { account, audit, common, entry, health, overview, profile, senders, sends, staff, team };
