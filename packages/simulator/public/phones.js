import { byId, element, icon, readable } from './elements.js';

const KEEP = 2000;
const SHOWN = 60;
const TONES = 4;
const PINNED = 'pinned phones';

/** @type {Map<string, any>} the messages by id, oldest first */
export const messages = new Map();
/** The number of messages that arrived at a phone while another one was selected. */
const unseen = new Map();
/** The pinned numbers, stored in this browser. */
const pinned = new Set(JSON.parse(localStorage.getItem(PINNED) ?? '[]'));
let chosen = null;
let changed = () => {};

/** Adds the list's event listeners. Call it once. @param onChange called when another phone is selected, or the list must be redrawn */
export function startPhones(onChange) {
  changed = onChange;
  byId('find').addEventListener('input', () => changed());
  byId('find').addEventListener('keydown', ({ key }) => {
    const [first] = listed().keys();
    if (key === 'Enter' && first !== undefined) choose(first);
  });
  byId('pin').addEventListener('click', () => {
    if (!pinned.delete(chosen)) pinned.add(chosen);
    localStorage.setItem(PINNED, JSON.stringify([...pinned]));
    changed();
  });
}

/** Removes all messages. */
export function forgetAll() {
  messages.clear();
  unseen.clear();
}

/** Stores a message. @returns whether it is new */
export function keep(message) {
  const isNew = !messages.has(message.id);
  messages.set(message.id, message);
  if (messages.size > KEEP) messages.delete(messages.keys().next().value);
  if (isNew && chosen !== null && message.to !== chosen)
    unseen.set(message.to, (unseen.get(message.to) ?? 0) + 1);
  return isNew;
}

/** Returns the number of the selected phone, `null` without one. */
export function phoneInHand() {
  const all = phones();
  if (chosen === null || !all.has(chosen)) chosen = all.keys().next().value ?? null;
  return chosen;
}

/** Returns the phones that have messages, each with its latest: pinned ones first, then the most recent. */
function phones() {
  const latest = new Map();
  for (const message of messages.values()) {
    latest.delete(message.to);
    latest.set(message.to, message);
  }
  const recent = [...latest].toReversed();
  return new Map([...recent.filter(([to]) => pinned.has(to)), ...recent.filter(([to]) => !pinned.has(to))]);
}

/** Returns the phones with the searched digits in their number, in any form: `(11) 98765` finds +55 11 98765-4321. */
function listed() {
  const digits = byId('find').value.replace(/\D/g, '');
  return new Map([...phones()].filter(([to]) => to.includes(digits)));
}

function choose(to) {
  chosen = to;
  unseen.delete(to);
  changed();
}

export function drawPhones() {
  const found = [...listed()];
  const focused = document.activeElement?.closest('[data-phone]')?.dataset.phone;
  byId('phones').replaceChildren(
    ...found.slice(0, SHOWN).map(([to, latest]) => element('li', {}, phoneButton(to, latest))),
  );
  if (focused !== undefined) byId('phones').querySelector(`[data-phone="${focused}"]`)?.focus();
  byId('phones-hint').textContent = hint(found.length);
  byId('rule-recipients').replaceChildren(
    ...[...phones().keys()].map((value) => element('option', { value })),
  );
  const pin = byId('pin');
  const isPinned = pinned.has(chosen);
  pin.hidden = chosen === null;
  pin.setAttribute('aria-pressed', String(isPinned));
  pin.replaceChildren(icon('pin'), element('span', { text: isPinned ? 'Pinned' : 'Pin' }));
}

function hint(count) {
  if (messages.size === 0) return 'Phones appear here with their first message.';
  if (count === 0) return 'No phone has these digits.';
  return count > SHOWN ? `and ${count - SHOWN} more: search by number` : '';
}

function phoneButton(to, latest) {
  const count = unseen.get(to) ?? 0;
  const tone = [...to].reduce((sum, digit) => sum + Number(digit === '+' ? 0 : digit), 0) % TONES;
  const avatar = element('span', { className: `avatar tone-${tone}`, text: to.slice(-2) });
  avatar.setAttribute('aria-hidden', 'true');
  const button = element(
    'button',
    { type: 'button', className: 'phone row', onclick: () => choose(to) },
    avatar,
    element(
      'span',
      { className: 'grow' },
      element(
        'strong',
        { className: 'row' },
        element('span', { text: readable(to) }),
        ...(pinned.has(to) ? [icon('pin', 'Pinned')] : []),
      ),
      element(
        'span',
        { className: 'phone-last row soft' },
        icon(stateOf(latest)),
        element('span', { className: 'grow', text: latest.code }),
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

export function stateOf(message) {
  return message.dropped ? 'dropped' : message.status;
}

export function clock(iso) {
  return new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
