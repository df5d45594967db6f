import { createServer } from 'node:http';

/** @typedef {import('@onecode/testing').CaughtMail} CaughtMail */

const HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};
/** A mail is foreign HTML: it must not run scripts, and its links open in a new tab. */
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-popups allow-popups-to-escape-sandbox";
const LIST_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** @param {string} text */
const escape = (text) =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? '&quot;');

/**
 * Catches every mail of the demonstration in memory and shows them on a page. No mail is sent.
 * @param {number} port of the page
 * @returns {Promise<string>} for `SMTP_URL`
 */
export async function startMailbox(port) {
  const { Mailbox } = await import('@onecode/testing'); // needs the build
  const mailbox = await Mailbox.start();
  const server = createServer((request, response) => {
    const [, nth] = /^\/mails\/(\d+)$/.exec(request.url ?? '') ?? [];
    const mail = nth === undefined ? undefined : mailbox.mails[Number(nth)];
    if (nth !== undefined && mail === undefined) return void response.writeHead(404, HEADERS).end();
    response.writeHead(200, {
      ...HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': mail === undefined ? LIST_POLICY : MAIL_POLICY,
    });
    response.end(mail === undefined ? listOf(mailbox.mails) : withTargets(mail.html));
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  return mailbox.url;
}

/** @param {string} html */
const withTargets = (html) => html.replace('<head>', '<head><base target="_blank">');

/**
 * Returns the page, with the newest mails first.
 * @param {CaughtMail[]} mails
 */
function listOf(mails) {
  const items = mails
    .map(
      ({ subject, to, at }, nth) => `<details><summary><strong>${escape(subject)}</strong>
<span>${escape(to)} · ${at.toLocaleTimeString()}</span></summary>
<iframe src="/mails/${nth}" title="${escape(subject)}" loading="lazy"></iframe></details>`,
    )
    .toReversed();
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Mailbox · Onecode</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>
body { max-width: 720px; margin: 0 auto; padding: 24px 16px; font: 15px/1.5 system-ui, sans-serif; }
summary { padding: 10px 4px; cursor: pointer; border-bottom: 1px solid #8884; overflow-wrap: anywhere; }
summary span { display: block; opacity: 0.7; font-size: 13px; }
iframe { width: 100%; height: 560px; border: 0; }
</style></head><body><h1>Mailbox</h1>
<p>Mails of the demonstration, newest first. None is sent. <a href="/">Reload</a></p>
${items.length === 0 ? '<p>No mail yet.</p>' : items.join('\n')}</body></html>`;
}
