import { byId, call, element, readable } from './elements.js';

const MINUTE_MS = 60_000;
const SENDERS_SHOWN = 12;
const TICK_MS = 1000;

const CONDITIONS = {
  active: ['good', 'Active'],
  restricted: ['bad', 'Restricted'],
  disabled: ['bad', 'Blocked'],
  payment_issue: ['bad', 'Payment problem'],
};
const STATUSES = {
  CONNECTED: 'good',
  APPROVED: 'good',
  FLAGGED: 'warn',
  PAUSED: 'warn',
  PENDING: 'warn',
};

let drawn = '';
let latest = { business: null, throttles: [] };

/** Keeps the time that is left of throttles true. */
export function startBusinessPanel() {
  setInterval(() => {
    if (latest.throttles.some(lasts)) draw();
  }, TICK_MS);
}

/** Draws the business accounts, their numbers and templates, and what can be done to them. */
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
  const focused = document.activeElement?.closest('#accounts')
    ? document.activeElement.getAttribute('data-target')
    : null;
  byId('accounts').replaceChildren(
    ...business.businessAccounts.flatMap((account) => accountItems(business, lasting, account)),
    ...lasting.filter(({ scope }) => scope === 'app' || scope === 'pair').map(otherThrottle),
  );
  byId('no-senders').hidden = business.senders.length > 0;
  if (focused !== null)
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
    ...(hidden > 0 ? [element('li', { className: 'hint', text: `and ${hidden} more numbers` })] : []),
    ...templates.filter(({ wabaId }) => wabaId === account.id).map(templateItem),
  ];
}

function accountItem({ id, condition }, lasting) {
  const [tone, text] = CONDITIONS[condition];
  const name = `account ${id}`;
  const path = `business-accounts/${id}`;
  const throttle = lasting.find(({ scope, wabaId = id }) => scope === 'business_account' && wabaId === id);
  return item({
    className: 'account',
    title: `Account ${id}`,
    ...(throttle ? throttled(throttle) : { tone, text }),
    actions: [
      throttle ? endOf(throttle, name) : throttleButton(name, { scope: 'business_account', wabaId: id }),
      condition === 'active'
        ? action('Block', name, 'PUT', path, { condition: 'disabled' })
        : action('Unblock', name, 'PUT', path, { condition: 'active' }),
    ],
  });
}

function senderItem({ phoneNumberId, displayPhoneNumber, status, qualityRating }, lasting) {
  const name = readable(`+${displayPhoneNumber}`);
  const path = `senders/${phoneNumberId}`;
  const throttle = lasting.find(
    ({ scope, sender = phoneNumberId }) => scope === 'sender' && sender === phoneNumberId,
  );
  const isFlagged = status === 'FLAGGED' || qualityRating === 'RED';
  const words = isFlagged ? 'Flagged for low quality' : worded(status);
  return item({
    title: name,
    ...(throttle
      ? throttled(throttle)
      : { tone: isFlagged ? 'warn' : (STATUSES[status] ?? 'bad'), text: words }),
    actions: [
      throttle ? endOf(throttle, name) : throttleButton(name, { scope: 'sender', sender: phoneNumberId }),
      isFlagged
        ? action('Unflag', name, 'PUT', path, { status: 'CONNECTED', qualityRating: 'GREEN' })
        : action('Flag', name, 'PUT', path, { status: 'FLAGGED', qualityRating: 'RED' }),
    ],
  });
}

function templateItem({ wabaId, name, language, status }) {
  const path = `business-accounts/${wabaId}/templates/${name}/${language}`;
  const whole = `${name} in ${language}`;
  return item({
    title: name,
    detail: language,
    tone: STATUSES[status] ?? 'bad',
    text: worded(status),
    actions: [
      status === 'APPROVED'
        ? action('Pause', whole, 'PUT', path, { status: 'PAUSED' })
        : action('Resume', whole, 'PUT', path, { status: 'APPROVED' }),
    ],
  });
}

/** A throttle that belongs to no account or number alone. */
function otherThrottle(throttle) {
  const title = throttle.scope === 'app' ? 'The whole app' : 'Sender and phone';
  return item({ title, ...throttled(throttle), actions: [endOf(throttle, title)] });
}

function item({ className = '', title, detail, tone, text, actions }) {
  const state = element('span', { className: 'thing-state', text });
  state.dataset.tone = tone;
  return element(
    'li',
    { className: `thing ${className}` },
    element(
      'span',
      { className: 'thing-text' },
      element(
        'strong',
        {},
        element('span', { text: title }),
        ...(detail === undefined ? [] : [element('span', { className: 'thing-detail', text: detail })]),
      ),
      state,
    ),
    element('span', { className: 'thing-actions' }, ...actions),
  );
}

/** A button that changes one thing; its name says which. */
function action(label, of, method, path, body) {
  const button = element('button', {
    type: 'button',
    className: 'small',
    text: label,
    onclick: async () => {
      const trouble = await call(method, path, body);
      byId('business-trouble').hidden = trouble === null;
      byId('business-trouble').textContent = trouble ?? '';
    },
  });
  button.setAttribute('aria-label', `${label}: ${of}`);
  // The opposite action takes the place of this one, and the focus with it.
  button.dataset.target = `${['Throttle 1 min', 'End throttle'].includes(label) ? 'throttle' : 'state'} ${of}`;
  return button;
}

const throttleButton = (of, throttle) =>
  action('Throttle 1 min', of, 'POST', 'throttles', { ...throttle, forMs: MINUTE_MS });
const endOf = ({ id }, of) => action('End throttle', of, 'DELETE', `throttles/${id}`);

function throttled(throttle) {
  const calls = throttle.refused === 1 ? '1 call' : `${throttle.refused.toLocaleString()} calls`;
  return { tone: 'warn', text: `Throttled, ${secondsLeft(throttle)} s left · ${calls} refused` };
}

const lasts = ({ endsAt }) => Date.parse(endsAt) > Date.now();
const secondsLeft = ({ endsAt }) => Math.max(0, Math.ceil((Date.parse(endsAt) - Date.now()) / 1000));

/** `PENDING_DELETION` as `Pending deletion`. */
function worded(status) {
  const words = status.toLowerCase().replaceAll('_', ' ');
  return words[0].toUpperCase() + words.slice(1);
}
