import { byId, call, element, icon, readable } from './elements.js';

const KEEP = 500;
const TONES = 6;
const DRAW_MS = 40;

/** @type {Map<string, any>} by id, oldest first */
const messages = new Map();
/** @type {Map<string, HTMLElement>} the bubbles of the phone in view, by message id */
const bubbles = new Map();
/** How many messages of a phone came in while another one was in view. */
const unseen = new Map();
let chosen = null;
let drawing = false;

/** Starts over with these messages, newest first. */
export function showAll(list) {
  messages.clear();
  for (const message of list.toReversed()) messages.set(message.id, message);
  if (chosen !== null && !phones().has(chosen)) chosen = null;
  redraw();
}

/** A message is new or has changed. */
export function show(message) {
  const isNew = !messages.has(message.id);
  messages.set(message.id, message);
  if (messages.size > KEEP) messages.delete(messages.keys().next().value);
  if (isNew) {
    chosen ??= message.to;
    if (message.to !== chosen) unseen.set(message.to, (unseen.get(message.to) ?? 0) + 1);
    announce(`New message on ${readable(message.to)}: code ${[...message.code].join(' ')}`);
  }
  if (drawing) return;
  // Under load many messages change at once, and are drawn together.
  drawing = true;
  setTimeout(() => {
    drawing = false;
    draw();
  }, DRAW_MS);
}

export function announce(text) {
  byId('announcer').textContent = text;
}

/** The phones that have messages, most recent first. */
export function phones() {
  const latest = new Map();
  for (const message of messages.values()) {
    latest.delete(message.to);
    latest.set(message.to, message);
  }
  return new Map([...latest].toReversed());
}

function redraw() {
  bubbles.clear();
  byId('messages').replaceChildren();
  draw();
}

function draw() {
  const list = phones();
  chosen ??= list.keys().next().value ?? null;
  drawPhones(list);
  byId('empty').hidden = chosen !== null;
  byId('messages').hidden = chosen === null;
  byId('chat-phone').textContent = chosen === null ? 'No phone yet' : `to ${readable(chosen)}`;
  drawMessages();
}

function drawPhones(list) {
  byId('no-phones').hidden = list.size > 0;
  const focused = document.activeElement?.closest('[data-phone]')?.dataset.phone;
  byId('phones').replaceChildren(
    ...[...list].map(([to, latest]) => element('li', {}, phoneButton(to, latest))),
  );
  byId('rule-recipients').replaceChildren(...[...list.keys()].map((value) => element('option', { value })));
  if (focused !== undefined)
    [...byId('phones').querySelectorAll('[data-phone]')]
      .find(({ dataset }) => dataset.phone === focused)
      ?.focus();
}

function phoneButton(to, latest) {
  const count = unseen.get(to) ?? 0;
  const button = element(
    'button',
    { type: 'button', className: 'phone', onclick: () => choose(to) },
    avatar(to),
    element(
      'span',
      { className: 'phone-text' },
      element('strong', { text: readable(to) }),
      element(
        'span',
        { className: 'phone-last' },
        icon(stateOf(latest)),
        element('span', { text: latest.code }),
        element('time', { text: clock(latest.acceptedAt), dateTime: latest.acceptedAt }),
      ),
    ),
    ...(count > 0
      ? [element('span', { className: 'badge', text: String(count), title: `${count} new` })]
      : []),
  );
  button.dataset.phone = to;
  if (to === chosen) button.setAttribute('aria-current', 'true');
  return button;
}

function choose(to) {
  chosen = to;
  unseen.delete(to);
  redraw();
  byId('chat').scrollTop = byId('chat').scrollHeight;
}

function drawMessages() {
  const list = byId('messages');
  const chat = byId('chat');
  const atEnd = chat.scrollHeight - chat.scrollTop - chat.clientHeight < 80;
  for (const [id, bubble] of bubbles)
    if (!messages.has(id)) {
      bubble.remove();
      bubbles.delete(id);
    }
  for (const message of messages.values()) {
    if (message.to !== chosen) continue;
    const known = bubbles.get(message.id);
    if (known) refresh(known, message);
    else {
      const made = bubbleOf(message);
      bubbles.set(message.id, made);
      list.append(made);
    }
  }
  if (atEnd) chat.scrollTop = chat.scrollHeight;
}

function bubbleOf(message) {
  const language = message.language.replace('_', '-');
  const [before, after] = splitAtCode(message);
  const copy = element(
    'button',
    { type: 'button', className: 'copy', onclick: () => copyCode(message.code, copy) },
    icon('copy'),
    element('span', { text: 'Copy code' }),
  );
  copy.setAttribute('aria-label', `Copy code ${message.code}`);
  const item = element(
    'li',
    { className: 'message' },
    element(
      'div',
      { className: 'bubble' },
      element(
        'p',
        { className: 'text', lang: language },
        before,
        element('strong', { className: 'code', text: message.code }),
        after,
      ),
      element(
        'p',
        { className: 'meta' },
        element('span', { className: 'why' }),
        element('time', { text: clock(message.acceptedAt), dateTime: message.acceptedAt }),
        element('span', { className: 'ticks' }),
      ),
      copy,
      element('button', { type: 'button', className: 'copy report', onclick: () => report(message.id) }),
    ),
    element('button', {
      type: 'button',
      className: 'read',
      text: 'Mark as read',
      onclick: () => markRead(message.id),
    }),
  );
  item.dataset.message = message.id;
  refresh(item, message);
  return item;
}

/** The template's text around the code, which stands there between asterisks. */
function splitAtCode({ text, code }) {
  const marked = `*${code}*`;
  const at = text.indexOf(marked);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + marked.length)];
}

function refresh(item, message) {
  refreshReport(item.querySelector('.report'), message);
  const state = stateOf(message);
  if (item.dataset.state === state) return;
  item.dataset.state = state;
  item.querySelector('.ticks').replaceChildren(icon(state));
  item.querySelector('.why').textContent =
    state === 'failed' ? `failed · ${message.failureCode}` : state === 'dropped' ? 'dropped' : '';
  const button = item.querySelector('.read');
  const done = ['read', 'failed', 'dropped'].includes(state);
  // A button that vanishes under the keyboard would drop the focus to the top of the page.
  if (done && document.activeElement === button) byId('chat').focus({ preventScroll: true });
  button.hidden = done;
}

/** The second button of a one-time code, in the language of the template. */
function refreshReport(button, { language, reportedAt, status, dropped }) {
  const portuguese = language.startsWith('pt');
  button.lang = language.replace('_', '-');
  button.hidden = status === 'failed' || dropped;
  const [ask, thanks] = portuguese
    ? ['Não solicitei um código', 'Obrigado por avisar']
    : ["I didn't request a code", 'Thanks for telling us'];
  button.textContent = reportedAt === null ? ask : thanks;
  // Not `disabled`: the focus of the one who pressed it would be lost.
  button.setAttribute('aria-disabled', String(reportedAt !== null));
}

function stateOf(message) {
  return message.dropped ? 'dropped' : message.status;
}

async function markRead(id) {
  const trouble = await call('POST', `messages/${encodeURIComponent(id)}/read`);
  announce(trouble === null ? 'Marked as read' : `Not marked as read: ${trouble}`);
}

async function report(id) {
  if (messages.get(id)?.reportedAt !== null) return;
  const trouble = await call('POST', `messages/${encodeURIComponent(id)}/did-not-request`);
  announce(trouble === null ? 'Reported: the code was not requested' : `Not reported: ${trouble}`);
}

async function copyCode(code, button) {
  const copied = await toClipboard(code);
  announce(copied ? 'Code copied' : 'The browser did not allow copying');
  if (!copied) return;
  button.classList.add('copied');
  setTimeout(() => button.classList.remove('copied'), 1600);
}

/** Browsers give `navigator.clipboard` only to secure pages; a page on another machine's address gets the old way. */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = element('textarea', { value: text, className: 'hidden' });
    document.body.append(field);
    field.select();
    const copied = document.execCommand('copy');
    field.remove();
    return copied;
  }
}

function avatar(to) {
  const tone = [...to].reduce((sum, digit) => sum + digit.charCodeAt(0), 0) % TONES;
  const made = element('span', { className: `avatar tone-${tone}`, text: to.slice(-2) });
  made.setAttribute('aria-hidden', 'true');
  return made;
}

function clock(iso) {
  return new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
