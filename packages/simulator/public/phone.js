import { showBusiness, startBusinessPanel } from './businessPanel.js';
import { show, showAll, startChat } from './chat.js';
import { byId, icon, tell } from './elements.js';
import { showRules, startFaultPanel } from './faultPanel.js';

const RETRY_MS = 1000;

function connect() {
  const source = new EventSource('simulator/events');
  source.addEventListener('open', () => connected('live'));
  source.addEventListener('error', () => {
    connected('lost');
    // The browser reconnects after a cut, but never after an answer other than 200.
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(connect, RETRY_MS);
  });
  source.addEventListener('snapshot', ({ data }) => {
    const { messages, ...state } = JSON.parse(data);
    showAll(messages);
    showState(state);
  });
  source.addEventListener('message', ({ data }) => show(JSON.parse(data)));
  source.addEventListener('state', ({ data }) => showState(JSON.parse(data)));
}

function connected(state) {
  const chip = byId('connection');
  chip.dataset.state = state;
  chip.textContent = state === 'live' ? 'Live' : 'Connection lost';
  byId('lost').hidden = state === 'live';
}

function showState({ rules, status, business, throttles }) {
  showRules(rules);
  showBusiness(business, throttles);
  const { webhooks } = status;
  byId('webhook-url').textContent = webhooks.url ?? 'No address is set: receipts are not sent.';
  for (const count of ['delivered', 'waiting', 'abandoned'])
    byId(`webhooks-${count}`).textContent = webhooks[count].toLocaleString();
  byId('requests').textContent = status.requests.toLocaleString();
  const troubled = webhooks.last_failure !== null && webhooks.waiting + webhooks.abandoned > 0;
  tell('webhook-trouble', troubled ? `Latest failure: ${webhooks.last_failure}` : null);
  showHandshake(webhooks.handshake);
}

function showHandshake({ state, reason }) {
  const chip = byId('handshake');
  chip.hidden = state === 'off';
  chip.dataset.state = state;
  chip.textContent =
    state === 'passed' ? 'Webhook verified' : `Verifying webhook${reason === null ? '…' : `: ${reason}`}`;
}

for (const place of document.querySelectorAll('[data-ticks]')) place.append(icon(place.dataset.ticks));
startChat();
startFaultPanel();
startBusinessPanel();
connect();
