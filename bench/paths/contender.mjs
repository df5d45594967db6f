/**
 * @typedef {import('./service.mjs').Service} Service
 * @typedef {import('./requests.mjs').Made} Made
 *
 * @typedef {Made & { messageId: string, attemptId?: string }} Sent  where attempts are rows, with that of the call
 *
 * @typedef {object} Contender  a service that does the whole job: ours and the floor
 * @property {string} name
 * @property {Service} api
 * @property {() => Promise<Service>} startApi starts one more
 * @property {string} secret what webhooks are signed with
 * @property {string[]} keys of as many accounts
 * @property {import('pg').Pool} pool
 * @property {(providerUrl: string, concurrency: number) => Promise<Service>} startWorker
 * @property {(count: number) => Promise<Made[]>} makeSends that nobody has enqueued; their code is `CODE`
 * @property {(count: number) => Promise<void>} makeRung the same with a job for each in the queue
 * @property {(count: number) => Promise<Sent[]>} makeSent sends that the provider has accepted: claimed and settled in small groups, as by a worker
 * @property {() => Promise<void>} clear forgets the sends that were made, and the receipts that wait for a worker
 * @property {() => Promise<void>} close ends our own connections to its services
 */

/** The name of ours as it was before. */
export const BEFORE = 'before';
export const ACCOUNTS = 1_000;
/** So many sends a worker of ours claims, or settles, in one statement when it is busy. */
export const SETTLED_TOGETHER = 12;
export const CODE = '123456';
export const WRONG_CODE = '654321';
export const PROVIDER_PATH = '/v25.0';
