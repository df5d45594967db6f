import { byId, call, element, icon, readable } from './elements.js';
import { clock, drawPhones, forgetAll, keep, messages, phoneInHand, startPhones, stateOf } from './phones.js';

const DRAW_MS = 40;

/** @type {Map<string, HTMLElement>} the bubbles of the selected phone, by message id */
const bubbles = new Map();
let drawn = null;
let drawing = false;

export function startChat() {
  startPhones(draw);
}

/** Replaces all messages. @param messages newest first */
export function showAll(list) {
  forgetAll();
  list.toReversed().forEach(keep);
  draw();
}

/** Adds or updates a message. */
export function show(message) {
  if (keep(message)) announce(`New message on ${readable(message.to)}: code ${[...message.code].join(' ')}`);
  if (drawing) return;
  // Under load many messages change at once, so they are drawn together.
  drawing = true;
  setTimeout(() => {
    drawing = false;
    draw();
  }, DRAW_MS);
}

function announce(text) {
  byId('announcer').textContent = text;
}

function draw() {
  const phone = phoneInHand();
  drawPhones();
  byId('empty').hidden = phone !== null;
  byId('messages').hidden = phone === null;
  byId('chat-phone').textContent = phone === null ? 'No phone yet' : `to ${readable(phone)}`;
  const chat = byId('chat');
  const atEnd = chat.scrollHeight - chat.scrollTop - chat.clientHeight < 80;
  const isAnother = phone !== drawn;
  drawn = phone;
  for (const [id, bubble] of bubbles)
    if (isAnother || !messages.has(id)) {
      bubble.remove();
      bubbles.delete(id);
    }
  for (const message of messages.values()) if (message.to === phone) drawMessage(message);
  if (atEnd || isAnother) chat.scrollTop = chat.scrollHeight;
}

function drawMessage(message) {
  const bubble = bubbles.get(message.id) ?? bubbleOf(message);
  if (!bubbles.has(message.id)) byId('messages').append(bubble);
  bubbles.set(message.id, bubble);
  refresh(bubble, message);
}

function bubbleOf({ id, language, text, footer, code, acceptedAt }) {
  const lang = language.replace('_', '-');
  // The code is between asterisks.
  const [before, after] = text.split(`*${code}*`);
  const copy = element(
    'button',
    { type: 'button', className: 'copy row', onclick: () => copyCode(code, copy) },
    icon('copy'),
    element('span', { text: language.startsWith('pt') ? 'Copiar código' : 'Copy code' }),
  );
  copy.lang = lang;
  copy.setAttribute('aria-label', `${copy.textContent} ${code}`);
  return element(
    'li',
    { className: 'message' },
    element(
      'div',
      { className: 'bubble' },
      element(
        'p',
        { className: 'text', lang },
        before,
        element('strong', { className: 'code', text: code }),
        after ?? '',
      ),
      element('p', { className: 'soft', lang, text: footer ?? '', hidden: footer === null }),
      element(
        'p',
        { className: 'meta row soft' },
        element('span', { className: 'why' }),
        element('time', { text: clock(acceptedAt), dateTime: acceptedAt }),
        element('span', { className: 'ticks' }),
      ),
      copy,
      element('button', { type: 'button', className: 'copy report', onclick: () => report(id) }),
    ),
    element('button', {
      type: 'button',
      className: 'read soft',
      text: 'Mark as read',
      onclick: () => markRead(id),
    }),
  );
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
  // Removing the focused button would move the focus to the top of the page.
  if (done && document.activeElement === button) byId('chat').focus({ preventScroll: true });
  button.hidden = done;
}

/** Makes the second button of a one-time code, in the language of the template. */
function refreshReport(button, { language, reportedAt, status, dropped }) {
  button.lang = language.replace('_', '-');
  button.hidden = status === 'failed' || dropped;
  const [ask, thanks] = language.startsWith('pt')
    ? ['Não solicitei um código', 'Obrigado por avisar']
    : ["I didn't request a code", 'Thanks for telling us'];
  button.textContent = reportedAt === null ? ask : thanks;
  // Not `disabled`: the button would lose the focus.
  button.setAttribute('aria-disabled', String(reportedAt !== null));
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

/** Browsers offer `navigator.clipboard` only to secure pages; other addresses use the older API. */
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
