import type { Locale } from '@onecode/domain';

/** The content of a mail in one language. */
export interface Content {
  subject: string;
  paragraphs: readonly string[];
  /** The button, if any. */
  action: { label: string; url: string } | null;
  /** Why the recipient gets the mail, and how to unsubscribe. */
  footer: string;
}

export interface Letter {
  subject: string;
  text: string;
  html: string;
}

const STYLE = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; padding: 24px 12px; background: #f4f5f7; color: #1b1f24; font: 16px/1.55 -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; }
.card { box-sizing: border-box; max-width: 576px; margin: 0 auto; padding: 28px 28px 24px; background: #ffffff; border: 1px solid #e1e4e8; border-radius: 12px; }
.name { margin: 0 0 20px; font-size: 14px; font-weight: 700; color: #0f766e; }
h1 { margin: 0 0 12px; font-size: 20px; line-height: 1.3; overflow-wrap: anywhere; }
p { margin: 0 0 14px; overflow-wrap: anywhere; }
.button { display: inline-block; margin: 8px 0 16px; padding: 11px 20px; border-radius: 8px; background: #0f766e; color: #ffffff; font-weight: 600; text-decoration: none; }
.address { font-size: 13px; color: #57606a; }
.address a { color: inherit; }
.footer { box-sizing: border-box; max-width: 576px; margin: 16px auto 0; padding: 0 28px; font-size: 13px; color: #57606a; }
@media (prefers-color-scheme: dark) {
  body { background: #14171a; color: #e6e8ea; }
  .card { background: #1d2125; border-color: #363b42; }
  .name { color: #2dd4bf; }
  .button { background: #14b8a6; color: #042f2e; }
  .address, .footer { color: #a3abb4; }
}
@media (max-width: 480px) { .card { padding: 22px 18px 18px; } .footer { padding: 0 18px; } }`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

/** Returns the mail as text and as self-contained HTML. @param copy the text before the button's address */
export function letterOf(
  { subject, paragraphs, action, footer }: Content,
  language: Locale,
  copy: string,
): Letter {
  const text = [subject, ...paragraphs, ...(action === null ? [] : [`${action.label}:\n${action.url}`])];
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(subject)}</title>
<style>${STYLE}
</style>
</head>
<body>
<div class="card">
<p class="name">Onecode</p>
<h1>${escape(subject)}</h1>
${paragraphs.map((paragraph) => `<p>${escape(paragraph)}</p>`).join('\n')}
${
  action === null
    ? ''
    : `<p><a class="button" href="${escape(action.url)}">${escape(action.label)}</a></p>
<p class="address">${escape(copy)}<br><a href="${escape(action.url)}">${escape(action.url)}</a></p>`
}
</div>
<p class="footer">${escape(footer)}</p>
</body>
</html>
`;
  return { subject, text: `${text.join('\n\n')}\n\n-- \n${footer}\n`, html };
}
