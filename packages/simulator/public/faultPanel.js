import { byId, call, element, readable, tell } from './elements.js';

/** The faults of the form, each with its label, the field that it needs, and the rule's fault. */
const KINDS = {
  error: {
    label: 'Refuse with an error code',
    field: ['Error code', '131026'],
    fault: (error) => ({ error }),
  },
  lateFailure: {
    label: 'Accept, then report a failure',
    field: ['Error code', '131026'],
    fault: (lateFailure) => ({ lateFailure }),
  },
  acceptThenDrop: { label: 'Accept, then send no receipt', fault: () => ({ acceptThenDrop: true }) },
  latencyMs: {
    label: 'Answer late',
    field: ['Milliseconds', '3000'],
    fault: (latencyMs) => ({ latencyMs }),
  },
  hang: { label: 'Never answer', fault: () => ({ hang: true }) },
  resetBefore: { label: 'Reset the connection before accepting', fault: () => ({ reset: 'before' }) },
  resetAfter: { label: 'Reset the connection after accepting', fault: () => ({ reset: 'after' }) },
  empty: { label: 'Answer 200 with an empty body', fault: () => ({ wrongBody: 'empty' }) },
  html: { label: 'Answer 200 with a web page', fault: () => ({ wrongBody: 'html' }) },
  noId: { label: 'Answer 200 without a message id', fault: () => ({ wrongBody: 'no_id' }) },
  html502: { label: 'Answer 502 with a web page', fault: () => ({ wrongBody: 'html', http: 502 }) },
  early: { label: 'Receipts before the answer', fault: () => ({ receiptsBeforeAnswer: true }) },
  duplicates: {
    label: 'Receipts several times',
    field: ['More copies', '2'],
    fault: (duplicates) => ({ duplicates }),
  },
  disorder: { label: 'Receipts out of order', fault: () => ({ disorder: true }) },
};

/** Adds the form's event listeners. Call it once. */
export function startFaultPanel() {
  const kind = byId('rule-kind');
  kind.append(
    ...Object.entries(KINDS).map(([value, { label }]) => element('option', { value, text: label })),
  );
  kind.addEventListener('change', fitField);
  fitField();
  byId('rule-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void addRule();
  });
  byId('rules-clear').addEventListener('click', () => void call('DELETE', 'rules'));
}

/** Draws the active rules. */
export function showRules(rules) {
  byId('no-rules').hidden = rules.length > 0;
  byId('rules-clear').hidden = rules.length < 2;
  byId('rules').replaceChildren(...rules.map(ruleItem));
}

function fitField() {
  const { field } = KINDS[byId('rule-kind').value];
  byId('rule-value-field').hidden = field === undefined;
  if (field === undefined) return;
  byId('rule-value-label').textContent = field[0];
  byId('rule-value').value = field[1];
}

async function addRule() {
  const { field, fault } = KINDS[byId('rule-kind').value];
  const recipient = byId('rule-recipient').value.replace(/[\s()-]/g, '');
  const times = byId('rule-times').value.trim();
  const rule = { fault: fault(field === undefined ? undefined : Number(byId('rule-value').value || NaN)) };
  if (recipient !== '') rule.recipient = recipient;
  if (times !== '') rule.times = Number(times);
  tell('rule-trouble', await call('POST', 'rules', rule));
}

function ruleItem(rule) {
  const remove = element('button', {
    type: 'button',
    className: 'quiet',
    text: 'Remove',
    onclick: () => void call('DELETE', `rules/${encodeURIComponent(rule.id)}`),
  });
  remove.setAttribute('aria-label', `Remove: ${describe(rule.fault)}`);
  const where = [
    rule.recipient === undefined ? 'every phone' : readable(rule.recipient),
    ...(rule.sender === undefined ? [] : [`sender ${rule.sender}`]),
    rule.times === undefined ? 'always' : `${rule.times - rule.hits} more`,
    ...(rule.hits > 0 ? [`met ${rule.hits}`] : []),
  ].join(' · ');
  return element(
    'li',
    { className: 'thing rule row' },
    element(
      'span',
      { className: 'grow' },
      element('strong', { text: describe(rule.fault) }),
      element('span', { className: 'soft', text: where }),
    ),
    remove,
  );
}

/** Returns a fault's label; a fault that the form does not offer is returned as JSON. */
function describe(fault) {
  const found = Object.values(KINDS).find(({ fault: make }) => {
    const value = Object.values(fault)[0];
    return JSON.stringify(make(value)) === JSON.stringify(fault);
  });
  if (!found)
    return Object.entries(fault)
      .map(([key, value]) => `${key}: ${value}`)
      .join(', ');
  return found.field === undefined ? found.label : `${found.label} (${Object.values(fault)[0]})`;
}
