export * from './balanceAlerts.js';
export * from './outbox.js';
export * from './staffAlerts.js';
export { deleteExpiredVerifications } from './links.js';
export { muteMails, noteMailSender, readMutedMails, sendsMail } from './writeMails.js';
