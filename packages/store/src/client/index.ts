export * from './database.js';
export { UnusableDatabase } from './servers.js';
export { checkDatabase, findRightsFault } from './rights.js';
export { connectionFault } from './connectionFaults.js';
export { findSettingsFault } from './settings.js';
export { isId, newId } from './ids.js';
export { refusedBy, refusesValues, type Refused } from './sql.js';
