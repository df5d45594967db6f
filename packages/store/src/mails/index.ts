export { queueLowBalanceAlerts, setBalanceAlert } from './balanceAlerts.js';
export { KEY_MAIL_DAYS, queueKeyExpiryAlerts } from './keyAlerts.js';
export { type MailFacts, type MailKind, MUTABLE_MAILS, type MutableMail } from './mailKinds.js';
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
export { queueSenderBlockedAlerts } from './senderBlocks.js';
export { queueFindingAlerts } from './staffAlerts.js';
export { deleteExpiredVerifications } from './links.js';
export { muteMails, readMutedMails } from './mutedMails.js';
export { noteMailSender, sendsMail } from './writeMails.js';
export {
  type EventDelivery,
  type EventWebhook,
  findEventWebhook,
  listEventDeliveries,
  removeEventWebhook,
  repeatEvent,
  rotateEventSecret,
  setEventWebhook,
  takeEvent,
  testEventWebhook,
} from './eventWebhooks.js';
