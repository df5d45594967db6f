const escape = (text) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** Prevents a second click, which would send another code or use this one up. */
const SUBMIT_ONCE = `
  let isSubmitted = false;
  addEventListener('submit', (event) => (isSubmitted ? event.preventDefault() : (isSubmitted = true)));
  addEventListener('pageshow', () => (isSubmitted = false));`;

/** Returns the page of a session: the number form, the code form, or the signed-in user. Without a session, it asks for a number. */
export function page(session, notice) {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign in</title>
<h1>Sign in</h1>${notice ? `<p role="status">${escape(notice)}</p>` : ''}${content(session ?? {})}<script>${SUBMIT_ONCE}</script></html>`;
}

const form = (action, fields) => `<form method="post" action="${action}">${fields}</form>`;

function content({ signedInAs, pending }) {
  if (signedInAs)
    return `<p>You are signed in as ${escape(signedInAs)}.</p>${form('/sign-out', '<button>Sign out</button>')}`;
  if (!pending)
    return form(
      '/code',
      '<label>WhatsApp number, with + and country code <input name="to" type="tel" autocomplete="tel" required></label> <button>Send code</button>',
    );
  const codeForm = form(
    '/verify',
    '<label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required></label> <button>Sign in</button>',
  );
  return `${pending.sendIds.length > 0 ? `<p>We sent a code to ${escape(pending.to)} by WhatsApp.</p>${codeForm}` : ''}
${form('/resend', '<button>Send a new code</button>')}${form('/restart', '<button>Use another number</button>')}`;
}
