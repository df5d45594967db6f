import { byId, call, element, readable, tell } from './elements.js';

const MINUTE_MS = 60_000;
const SENDERS_SHOWN = 12;
const TICK_MS = 1000;

const CONDITIONS = {
  active: ['good', 'Active'],
  restricted: ['bad', 'Restricted'],
  disabled: ['bad', 'Blocked'],
  payment_issue: ['bad', 'Payment problem'],
};
const TONES = { CONNECTED: 'good', APPROVED: 'good', PAUSED: 'warn', PENDING: 'warn' };

let drawn = '';
let latest = { business: null, throttles: [] };

/** Updates the remaining time of throttles. */
export function startBusinessPanel() {
  setInterval(() => {
    if (latest.throttles.some(lasts)) draw();
  }, TICK_MS);
}

/** Draws the business accounts, their numbers and templates, and buttons that change them. */
export function showBusiness(business, throttles) {
  latest = { business, throttles };
  draw();
}

function draw() {
  const { business, throttles } = latest;
  const lasting = throttles.filter(lasts);
  const now = JSON.stringify([business, lasting.map((throttle) => [throttle, secondsLeft(throttle)])]);
  if (now === drawn) return;
  drawn = now;
  const focused = document.activeElement?.closest('#accounts [data-target]')?.dataset.target;
  byId('accounts').replaceChildren(
    ...business.businessAccounts.flatMap((account) => accountItems(business, lasting, account)),
    ...lasting.filter(({ scope }) => scope === 'app' || scope === 'pair').map(otherThrottle),
  );
  byId('no-senders').hidden = business.senders.length > 0;
  if (focused !== undefined)
    [...byId('accounts').querySelectorAll('[data-target]')]
      .find(({ dataset }) => dataset.target === focused)
      ?.focus();
}

function accountItems({ senders, templates }, lasting, account) {
  const own = senders.filter(({ wabaId }) => wabaId === account.id);
  const hidden = own.length - SENDERS_SHOWN;
  return [
    accountItem(account, lasting),
    ...own.slice(0, SENDERS_SHOWN).map((sender) => senderItem(sender, lasting)),
    ...(hidden > 0 ? [element('li', { className: 'soft', text: `and ${hidden} more numbers` })] : []),
    ...templates.filter(({ wabaId }) => wabaId === account.id).map(templateItem),
  ];
}

function accountItem({ id, condition }, lasting) {
  const [tone, text] = CONDITIONS[condition];
  const throttle = lasting.find(({ scope, wabaId = id }) => scope === 'business_account' && wabaId === id);
  return item(`Account ${id}`, {
    name: `account ${id}`,
    tone,
    text,
    throttle,
    throttled: { scope: 'business_account', wabaId: id },
    change: [`business-accounts/${id}`, { condition: condition === 'active' ? 'disabled' : 'active' }],
    label: condition === 'active' ? 'Block' : 'Unblock',
  });
}

function senderItem({ phoneNumberId, displayPhoneNumber, status, qualityRating }, lasting) {
  const isLow = qualityRating === 'RED';
  const throttle = lasting.find(
    ({ scope, sender = phoneNumberId }) => scope === 'sender' && sender === phoneNumberId,
  );
  return item(readable(`+${displayPhoneNumber}`), {
    tone: isLow ? 'warn' : TONES[status],
    text: isLow ? 'Low quality' : worded(status),
    throttle,
    throttled: { scope: 'sender', sender: phoneNumberId },
    change: [`senders/${phoneNumberId}`, { qualityRating: isLow ? 'GREEN' : 'RED' }],
    label: isLow ? 'Restore quality' : 'Lower quality',
  });
}

function templateItem({ wabaId, name, language, status }) {
  const path = `business-accounts/${wabaId}/templates/${name}/${language}`;
  const isApproved = status === 'APPROVED';
  return item(name, {
    name: `${name} in ${language}`,
    detail: language,
    tone: TONES[status],
    text: worded(status),
    change: [path, { status: isApproved ? 'PAUSED' : 'APPROVED' }],
    label: isApproved ? 'Pause' : 'Resume',
  });
}

/** Draws a throttle that is not limited to one account or number. */
function otherThrottle(throttle) {
  return item(throttle.scope === 'app' ? 'The whole app' : 'Sender and phone', { throttle });
}

/** Draws a row with a state, a button that changes it (`change`: path and body) and one that starts or ends a throttle. */
function item(title, { name = title, detail, tone = 'bad', text, throttle, throttled, change, label }) {
  const state = element('span', { className: 'state row soft', text: throttle ? remaining(throttle) : text });
  state.dataset.tone = throttle ? 'warn' : tone;
  const end = throttle && button('End throttle', name, 'DELETE', `throttles/${throttle.id}`);
  const begin = throttled && { ...throttled, forMs: MINUTE_MS };
  return element(
    'li',
    { className: 'thing row' },
    element(
      'span',
      { className: 'grow' },
      element('strong', { text: title }),
      ...(detail === undefined ? [] : [' ', element('span', { className: 'soft', text: detail })]),
      state,
    ),
    element(
      'span',
      { className: 'row' },
      ...(end ? [end] : begin ? [button('Throttle 1 min', name, 'POST', 'throttles', begin)] : []),
      ...(change ? [button(label, name, 'PUT', ...change)] : []),
    ),
  );
}

/** Makes a button with an accessible name that includes the changed thing. */
function button(label, of, method, path, body) {
  const made = element('button', {
    type: 'button',
    className: 'small',
    text: label,
    onclick: async () => tell('business-trouble', await call(method, path, body)),
  });
  made.setAttribute('aria-label', `${label}: ${of}`);
  // The opposite action replaces this one and takes its focus.
  made.dataset.target = `${path.startsWith('throttles') ? 'throttle' : 'state'} ${of}`;
  return made;
}

function remaining(throttle) {
  const calls = throttle.refused === 1 ? '1 call' : `${throttle.refused.toLocaleString()} calls`;
  return `Throttled, ${secondsLeft(throttle)} s left · ${calls} refused`;
}

const lasts = ({ endsAt }) => Date.parse(endsAt) > Date.now();
const secondsLeft = ({ endsAt }) => Math.max(0, Math.ceil((Date.parse(endsAt) - Date.now()) / 1000));

/** Returns `PENDING_DELETION` as `Pending deletion`. */
function worded(status) {
  const words = status.toLowerCase().replaceAll('_', ' ');
  return words[0].toUpperCase() + words.slice(1);
}
