/** @returns {any} the element with this id, which must exist */
export const byId = (id) => document.getElementById(id);

/** Makes an element. Text is set as text, never as markup. */
export function element(name, { className = '', text, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

const SHAPES = {
  accepted: ['M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM8 5.5v2.7l1.7 1', 'Accepted'],
  sent: ['M3.5 8.3l3 3 6-6.6', 'Sent'],
  delivered: ['M1 8.3l3 3 6-6.6M7.8 10.9l.4.4 6-6.6', 'Delivered'],
  read: ['M1 8.3l3 3 6-6.6M7.8 10.9l.4.4 6-6.6', 'Read'],
  failed: ['M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5.3v3.4M8 10.7v.1', 'Failed'],
  dropped: ['M4.5 4.5l7 7M11.5 4.5l-7 7', 'Dropped: no receipt will arrive'],
  copy: ['M6 6V3.5h6.5V10H10M3.5 6H10v6.5H3.5z', ''],
  pin: ['M6 2.5h4M6.6 2.5V7L4.5 9.2h7L9.4 7V2.5M8 9.2v4.3', ''],
};

/** Makes an icon with a text for screen readers. */
export function icon(name, title = SHAPES[name][1]) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `icon icon-${name}`);
  if (title) {
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', title);
  } else svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  shape.setAttribute('d', SHAPES[name][0]);
  svg.append(shape);
  return svg;
}

/** Returns a phone number in its usual form: `+55 11 98765-4321`. */
export function readable(number) {
  return number
    .replace(/^\+55(\d{2})(\d{4,5})(\d{4})$/, '+55 $1 $2-$3')
    .replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '+1 $1 $2-$3');
}

/** Shows an error next to its form, or clears it. */
export function tell(id, trouble) {
  byId(id).hidden = trouble === null;
  byId(id).textContent = trouble ?? '';
}

/** Calls the simulator. @returns the error message, or `null` */
export async function call(method, path, body) {
  try {
    const response = await fetch(`simulator/${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (response.ok) return null;
    const { errors } = await response.json();
    return errors.join('; ');
  } catch {
    return 'the simulator is unavailable';
  }
}
