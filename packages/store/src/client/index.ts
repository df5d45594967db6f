export {
  closeDatabase,
  type Connection,
  type Database,
  type DatabaseOptions,
  openDatabase,
  pingDatabase,
} from './database.js';
export { isLockTimeout, isLostConnection, readSqlState, UnusableDatabase } from './errors.js';
export { findDatabaseFault, findSettingsFault } from './settings.js';
export { isId, newId } from './ids.js';
