import { randomBytes } from 'node:crypto';
import express from 'express';
import {
  addSendId,
  ConnectionError,
  IndeterminateVerificationError,
  normalizeCode,
  Onecode,
  ProblemError,
} from '@onecode/client';
import { parsePhoneNumberFromString } from 'libphonenumber-js';
import { page } from './page.js';

const { ONECODE_API_KEY, ONECODE_URL, ONECODE_TIMEOUT_MS = '4000' } = process.env;
const { PORT = '8000', RESEND_AFTER_SECONDS = '30', SESSIONS_MAX = '10000', HTTPS } = process.env;
const onecode = new Onecode({
  apiKey: ONECODE_API_KEY,
  baseUrl: ONECODE_URL,
  // A user is waiting: at most two tries, no long wait between them, then an error message.
  timeoutMs: Number(ONECODE_TIMEOUT_MS),
  maxRetries: 1,
  deadlineMs: 2 * Number(ONECODE_TIMEOUT_MS) + 1000,
});
const SESSION_MS = 3_600_000;
/** The oldest first. */
const sessions = new Map();
/** The time when the next code can be sent, by session and by number. */
const nextSends = new Map();
/** After this time, a user who asks again expects a new message. */
const SAME_SEND_MS = 60_000;
/** Verifications in progress, by session and code. A second click gets the outcome of the first. */
const verifications = new Map();
const secret = () => randomBytes(32).toString('base64url');
// Behind https the cookie is also Secure.
const COOKIE = { httpOnly: true, sameSite: 'lax', path: '/', secure: HTTPS === '1' };

function newSession(fields = {}) {
  const now = Date.now();
  for (const [id, { endsAt }] of sessions) {
    if (endsAt > now && sessions.size < Number(SESSIONS_MAX)) break;
    sessions.delete(id);
  }
  const session = { id: secret(), endsAt: now + SESSION_MS, ...fields };
  sessions.set(session.id, session);
  return session;
}

const app = express();
app.use(express.urlencoded({ extended: false, limit: '4kb' }));
app.use((request, response, next) => {
  if (request.method === 'POST' && !isOfThisSite(request.headers))
    return response.status(403).send('This form is not from this site.');
  const id = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
  const found = sessions.get(id);
  request.session = found?.endsAt > Date.now() ? found : undefined;
  next();
});

/** All browsers send a form's `Origin`. Newer ones also send `Sec-Fetch-Site`, which works behind any proxy. */
function isOfThisSite({ 'sec-fetch-site': site, origin, host }) {
  return site === undefined ? origin?.replace(/^https?:\/\//, '') === host : site === 'same-origin';
}

app.get('/', async ({ session }, response) => {
  const notice = session?.notice ?? (await deliveryNotice(session?.pending));
  delete session?.notice;
  response.set('cache-control', 'no-store').send(page(session, notice));
});

app.post('/code', async ({ session, body }, response) => {
  const typed = String(body?.to ?? '');
  // One form for each number, however it was typed. The service refuses text that is not a number.
  const to = parsePhoneNumberFromString(typed)?.number ?? typed;
  const own = session ?? newSession();
  await sendCode(own, to);
  // The cookie is set only here and at sign-in, because a late response must not overwrite the cookie of the sign-in.
  if (own !== session) response.cookie('session', own.id, COOKIE);
  response.redirect(303, '/');
});

app.post('/resend', async ({ session }, response) => {
  if (session?.pending) await sendCode(session, session.pending.to);
  response.redirect(303, '/');
});

app.post('/verify', async ({ session, body }, response) => {
  if (session?.pending?.sendIds.length > 0) {
    const code = normalizeCode(String(body?.code ?? ''));
    const key = `${session.id} ${code}`;
    if (!verifications.has(key))
      verifications.set(
        key,
        signIn(session, code).finally(() => verifications.delete(key)),
      );
    const signedIn = await verifications.get(key);
    if (signedIn) response.cookie('session', signedIn.id, COOKIE);
  }
  response.redirect(303, '/');
});

/** Verifies a code, and returns the new session of a user with the right code. */
async function signIn(session, code) {
  // Read the ids and their number together, and only once, so that a code sent meanwhile changes neither.
  const { pending } = session;
  const outcome = await verify(session, pending, code);
  if (!outcome.valid) {
    session.notice = outcome.notice;
    return undefined;
  }
  // A new id at sign-in: a session id that an attacker planted is then worthless.
  sessions.delete(session.id);
  return newSession({ signedInAs: pending.to });
}

app.post('/restart', ({ session }, response) => {
  delete session?.pending;
  response.redirect(303, '/');
});

app.post('/sign-out', ({ session }, response) => {
  sessions.delete(session?.id);
  response.redirect(303, '/');
});

async function sendCode(session, to) {
  const now = Date.now();
  for (const [key, at] of nextSends) if (at <= now) nextSends.delete(key);
  // Other sessions cannot send to the number sooner.
  const keys = [session.id, to];
  const waitSeconds = Math.ceil((Math.max(...keys.map((key) => nextSends.get(key) ?? 0)) - now) / 1000);
  if (waitSeconds > 0) {
    session.notice = `You can ask for a new code in ${waitSeconds} s.`;
    return;
  }
  for (const key of keys) nextSends.set(key, now + Number(RESEND_AFTER_SECONDS) * 1000);
  // For a minute, a try without a response is retried with its key. After that, the SDK creates a new key and a new code.
  const { unfinished } = session;
  const isRepeat = unfinished?.to === to && now - unfinished.askedAt < SAME_SEND_MS;
  try {
    let send = await onecode.send(
      { to },
      { idempotencyKey: isRepeat ? unfinished.idempotencyKey : undefined },
    );
    // A retry returns the first send, even if its code is no longer valid.
    if (isRepeat && (send.verification !== 'pending' || send.status === 'failed'))
      send = await onecode.send({ to });
    // The latest two count, because users often type the code that arrived first.
    const earlier = session.pending?.to === to ? session.pending.sendIds : [];
    session.pending = { to, sendIds: addSendId(earlier, send.id) };
    delete session.unfinished;
  } catch (error) {
    for (const key of keys) nextSends.delete(key);
    if (!isOfService(error)) throw error;
    // A 429 does not show whether an earlier try without a response created a send.
    const refused = error instanceof ProblemError && error.status < 500 && error.status !== 429;
    const { idempotencyKey } = error;
    const askedAt = isRepeat && idempotencyKey === unfinished.idempotencyKey ? unfinished.askedAt : now;
    session.unfinished = refused ? undefined : { to, idempotencyKey, askedAt };
    session.notice = sendNotice(error);
  }
}

/** Returns whether an error is a refusal or a lost response. All other errors are bugs in this program. */
const isOfService = (error) => error instanceof ProblemError || error instanceof ConnectionError;

function sendNotice(error) {
  if (error instanceof ProblemError && error.status === 422)
    return 'No code can be sent to this number. Check it.';
  if (error instanceof ProblemError && error.status === 429)
    return 'Too many codes were asked for. Try again later.';
  return 'Codes cannot be sent at the moment. Try again.';
}

async function verify(session, pending, code) {
  try {
    const { valid, verification, attempts_left } = await onecode.verifyLatest(pending.sendIds, code);
    return { valid, notice: verificationNotice(verification, attempts_left) };
  } catch (error) {
    if (isOfService(error)) return { valid: false, notice: 'The code was not checked. Try again.' };
    if (!(error instanceof IndeterminateVerificationError)) throw error;
    // The code may be used up, so never verify it again.
    pending.sendIds = [];
    // No code is left to wait for.
    for (const key of [session.id, pending.to]) nextSends.delete(key);
    return { valid: false, notice: 'Something went wrong. Ask for a new code.' };
  }
}

function verificationNotice(verification, attemptsLeft) {
  if (verification === 'pending') return `That code is not right. Attempts left: ${attemptsLeft}.`;
  if (verification === 'expired') return 'This code is no longer valid. Ask for a new one.';
  if (verification === 'locked') return 'Too many wrong codes. Ask for a new one.';
  return 'This code was already used. Ask for a new one.';
}

async function deliveryNotice(pending) {
  if (!pending?.sendIds.length) return undefined;
  try {
    const { status, failure_reason } = await onecode.status(pending.sendIds[0]);
    return status === 'failed' ? failureNotice(failure_reason) : undefined;
  } catch (error) {
    if (!isOfService(error)) throw error;
    return undefined; // The page works without it.
  }
}

function failureNotice(reason) {
  if (reason === 'rejected_by_provider') return 'We could not reach this number on WhatsApp. Is it right?';
  if (reason === 'expired_before_delivery') return 'The code could not be delivered in time. Try again.';
  return 'The code could not be delivered. Try again.';
}

app.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${PORT}`));
