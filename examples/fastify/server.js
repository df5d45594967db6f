import { randomBytes } from 'node:crypto';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import Fastify from 'fastify';
import { ConnectionError, IndeterminateVerificationError, Onecode, ProblemError } from '@onecode/client';
import { page } from './page.js';

const { ONECODE_API_KEY, ONECODE_URL, ONECODE_TIMEOUT_MS = '10000' } = process.env;
const { PORT = '8000', RESEND_AFTER_SECONDS = '30', HTTPS } = process.env;
const onecode = new Onecode({
  apiKey: ONECODE_API_KEY,
  baseUrl: ONECODE_URL,
  timeoutMs: Number(ONECODE_TIMEOUT_MS),
});
const sessions = new Map();
const secret = () => randomBytes(32).toString('base64url');
// Behind https the cookie is also Secure.
const COOKIE = { httpOnly: true, sameSite: 'lax', path: '/', secure: HTTPS === '1' };

function newSession(reply, fields = {}) {
  const session = { id: secret(), csrf: secret(), ...fields };
  sessions.set(session.id, session);
  reply.setCookie('session', session.id, COOKIE);
  return session;
}

const app = Fastify({ bodyLimit: 4096 });
await app.register(cookie);
await app.register(formbody);
app.decorateRequest('session', null);
app.addHook('preHandler', async (request, reply) => {
  const known = sessions.get(request.cookies.session);
  if (request.method === 'POST' && (!known || request.body?.csrf !== known.csrf))
    return reply.code(403).send('This form is too old. Go back and reload the page.');
  request.session = known ?? newSession(reply);
});

app.get('/', async ({ session }, reply) => {
  const notice = session.notice ?? (await deliveryNotice(session.pending));
  delete session.notice;
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(page(session, notice));
});

app.post('/code', async ({ session, body }, reply) => {
  await sendCode(session, String(body.to ?? '').trim());
  return reply.redirect('/', 303);
});

app.post('/resend', async ({ session }, reply) => {
  if (session.pending) await sendCode(session, session.pending.to);
  return reply.redirect('/', 303);
});

app.post('/verify', async ({ session, body }, reply) => {
  // The id and its number are read together, from the session alone: a code sent meanwhile changes neither.
  const { pending } = session;
  if (pending?.sendId) {
    const outcome = await verify(pending, String(body.code ?? '').trim());
    if (outcome.valid) {
      // A new id at sign-in: an id that somebody planted before is worth nothing.
      sessions.delete(session.id);
      newSession(reply, { signedInAs: pending.to });
    } else session.notice = outcome.notice;
  }
  return reply.redirect('/', 303);
});

app.post('/restart', async ({ session }, reply) => {
  delete session.pending;
  return reply.redirect('/', 303);
});

app.post('/sign-out', async ({ session }, reply) => {
  sessions.delete(session.id);
  newSession(reply);
  return reply.redirect('/', 303);
});

async function sendCode(session, to) {
  const now = Date.now();
  const waitSeconds = Math.ceil(((session.nextSendAt ?? 0) - now) / 1000);
  if (waitSeconds > 0) {
    session.notice = `Wait ${waitSeconds} seconds before you ask for a new code.`;
    return;
  }
  session.nextSendAt = now + Number(RESEND_AFTER_SECONDS) * 1000;
  // Without a key of an attempt whose outcome is unknown, the SDK makes a new one: a new code.
  const unfinished = session.unfinished?.to === to ? session.unfinished : undefined;
  try {
    const send = await onecode.send({ to }, { idempotencyKey: unfinished?.idempotencyKey });
    session.pending = { to, sendId: send.id };
    delete session.unfinished;
  } catch (error) {
    session.nextSendAt = now;
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
  return 'We could not send a code. Try again.';
}

async function verify(pending, code) {
  try {
    const { valid, verification, attempts_left } = await onecode.verify(pending.sendId, code);
    return { valid, notice: verificationNotice(verification, attempts_left) };
  } catch (error) {
    if (error instanceof ProblemError)
      return { valid: false, notice: 'The code was not checked. Try again later.' };
    if (!(error instanceof IndeterminateVerificationError)) throw error;
    // The code may be used up, so it is never verified again.
    pending.sendId = null;
    return { valid: false, notice: 'We could not check the code. Ask for a new one.' };
  }
}

function verificationNotice(verification, attemptsLeft) {
  if (verification === 'pending') return `That code is wrong. Attempts left: ${attemptsLeft}.`;
  if (verification === 'expired') return 'That code has expired. Ask for a new one.';
  if (verification === 'locked') return 'Too many wrong codes. Ask for a new one.';
  return 'That code was used already. Ask for a new one.';
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

console.log(await app.listen({ port: Number(PORT), host: '127.0.0.1' }));
