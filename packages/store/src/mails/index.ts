export { queueLowBalanceAlerts, readBalanceAlert, setBalanceAlert } from './balanceAlerts.js';
export { queueKeyExpiryAlerts } from './keyAlerts.js';
export {
  deleteOldEntries,
  dropMail,
  type DueEvent,
  type DueMail,
  endEntry,
  postponeEntry,
  type MailStatistics,
  readMailStatistics,
  takeDueEvents,
  takeDueMails,
} from './outbox.js';
export { queueFindingAlerts } from './staffAlerts.js';
export { deleteExpiredVerifications } from './links.js';
export { muteMails, noteMailSender, readMutedMails, sendsMail } from './writeMails.js';
