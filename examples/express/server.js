import { randomBytes } from 'node:crypto';
import express from 'express';
import {
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
  // A person waits: two tries at the most, no long wait between them, and then a sentence.
  timeoutMs: Number(ONECODE_TIMEOUT_MS),
  maxRetries: 1,
  deadlineMs: 2 * Number(ONECODE_TIMEOUT_MS) + 1000,
});
const SESSION_MS = 3_600_000;
/** The oldest first. */
const sessions = new Map();
/** When the next code may be sent, by session and by number. */
const nextSends = new Map();
const secret = () => randomBytes(32).toString('base64url');
// Behind https the cookie is also Secure.
const COOKIE = { httpOnly: true, sameSite: 'lax', path: '/', secure: HTTPS === '1' };

/** Nothing else sets the cookie: a late answer must not overwrite that of the sign-in. */
function newSession(response, fields = {}) {
  const now = Date.now();
  for (const [id, { endsAt }] of sessions) {
    if (endsAt > now && sessions.size < Number(SESSIONS_MAX)) break;
    sessions.delete(id);
  }
  const session = { id: secret(), endsAt: now + SESSION_MS, ...fields };
  sessions.set(session.id, session);
  response.cookie('session', session.id, COOKIE);
  return session;
}

const app = express();
app.use(express.urlencoded({ extended: false, limit: '4kb' }));
app.use((request, response, next) => {
  if (request.method === 'POST' && !isOfThisSite(request.headers))
    return response.status(403).send('This form is not of this site.');
  const id = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
  const found = sessions.get(id);
  request.session = found?.endsAt > Date.now() ? found : undefined;
  next();
});

/** Browsers say where a form comes from: all in `Origin`, newer ones in `Sec-Fetch-Site`, which no proxy has to know. */
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
  // One form of a number, however it was typed. What is no number, the service refuses.
  const to = parsePhoneNumberFromString(typed)?.number ?? typed;
  await sendCode(session ?? newSession(response), to);
  response.redirect(303, '/');
});

app.post('/resend', async ({ session }, response) => {
  if (session?.pending) await sendCode(session, session.pending.to);
  response.redirect(303, '/');
});

app.post('/verify', async ({ session, body }, response) => {
  // The id and its number are read together, from the session alone: a code sent meanwhile changes neither.
  const pending = session?.pending;
  if (pending?.sendId) {
    const outcome = await verify(pending, normalizeCode(String(body?.code ?? '')));
    if (outcome.valid) {
      // A new id at sign-in: an id that somebody planted before is worth nothing.
      sessions.delete(session.id);
      newSession(response, { signedInAs: pending.to });
    } else session.notice = outcome.notice;
  }
  response.redirect(303, '/');
});

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
  // Other sessions do not send to the number any sooner.
  const keys = [session.id, to];
  const waitSeconds = Math.ceil((Math.max(...keys.map((key) => nextSends.get(key) ?? 0)) - now) / 1000);
  if (waitSeconds > 0) {
    session.notice = `You can ask for a new code in ${waitSeconds} s.`;
    return;
  }
  for (const key of keys) nextSends.set(key, now + Number(RESEND_AFTER_SECONDS) * 1000);
  // Without a key of an attempt whose outcome is unknown, the SDK makes a new one: a new code.
  const unfinished = session.unfinished?.to === to ? session.unfinished : undefined;
  try {
    const send = await onecode.send({ to }, { idempotencyKey: unfinished?.idempotencyKey });
    session.pending = { to, sendId: send.id };
    delete session.unfinished;
  } catch (error) {
    for (const key of keys) nextSends.delete(key);
    if (!isOfService(error)) throw error;
    // A limit says nothing of a try before it whose answer was lost.
    const refused = error instanceof ProblemError && error.status < 500 && error.status !== 429;
    session.unfinished = refused ? undefined : { to, idempotencyKey: error.idempotencyKey };
    session.notice = sendNotice(error);
  }
}

/** A refusal, or a lost answer. Everything else is a mistake of this program. */
const isOfService = (error) => error instanceof ProblemError || error instanceof ConnectionError;

function sendNotice(error) {
  if (error instanceof ProblemError && error.status === 422)
    return 'No code can be sent to this number. Check it.';
  if (error instanceof ProblemError && error.status === 429)
    return 'Too many codes were asked for. Try again later.';
  return 'Codes cannot be sent at the moment. Try again.';
}

async function verify(pending, code) {
  try {
    const { valid, verification, attempts_left } = await onecode.verify(pending.sendId, code);
    return { valid, notice: verificationNotice(verification, attempts_left) };
  } catch (error) {
    if (isOfService(error)) return { valid: false, notice: 'The code was not checked. Try again.' };
    if (!(error instanceof IndeterminateVerificationError)) throw error;
    // The code may be used up, so it is never verified again.
    pending.sendId = null;
    return { valid: false, notice: 'Something went wrong. Ask for a new code.' };
  }
}

function verificationNotice(verification, attemptsLeft) {
  if (verification === 'pending')
    return `That code is not right. Use the newest message. Attempts left: ${attemptsLeft}.`;
  if (verification === 'expired') return 'This code is no longer valid. Ask for a new one.';
  if (verification === 'locked') return 'Too many wrong codes. Ask for a new one.';
  return 'This code was used already. Ask for a new one.';
}

async function deliveryNotice(pending) {
  if (!pending?.sendId) return undefined;
  try {
    const { status } = await onecode.status(pending.sendId);
    return status === 'failed'
      ? 'The code could not be delivered. Check the number or ask for a new one.'
      : undefined;
  } catch (error) {
    if (!isOfService(error)) throw error;
    return undefined; // The page works without it.
  }
}

app.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${PORT}`));
