export {
  type Actor,
  type AuditEntry,
  type AuditFilter,
  findLostEntries,
  listAuditEntries,
  logEntry,
  type NewAuditEntry,
} from './audit.js';
export { type DueWork, readDueWork } from './dueWork.js';
export {
  type AttemptMinute,
  type ProviderAnswers,
  readAttemptMinutes,
  readProviderAnswers,
  readReceiptStatistics,
  type ReceiptStatistics,
  readWaitingSends,
  type WaitingSends,
} from './health.js';
export { createHealthReader, type ServiceHealth, source } from './healthReader.js';
export {
  acknowledgeIncident,
  deleteOldIncidents,
  type Incident,
  listIncidents,
  recordIncidents,
} from './incidents.js';
export { logRead } from './loggedReads.js';
export {
  countWorkers,
  createPresence,
  deleteOldProcesses,
  endProcessesSeenBefore,
  type Heartbeat,
  type LastRuns,
  listHeartbeats,
  listProcesses,
  type LoopName,
  type ProcessSummary,
} from './processes.js';
export { readRestoredState } from './restored.js';
export {
  addTraffic,
  createTrafficCounter,
  mergeOldTraffic,
  readTraffic,
  type TrafficCounter,
  type TrafficTotal,
} from './traffic.js';
export { findLatestRecipient, readDatabaseFacts } from './deployment.js';
