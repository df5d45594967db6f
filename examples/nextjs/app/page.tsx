import { cookies } from 'next/headers';
import { COOKIE_NAME } from '../lib/sessionCookie';
import { findSession, type Session } from '../lib/sessions';
import { deliveryNotice } from '../lib/signIn';

/** The page of a session: the number form, the code form, or the signed-in user. Without a session, it asks for a number. */
export default async function Page() {
  const session = findSession((await cookies()).get(COOKIE_NAME)?.value);
  const notice = session?.notice ?? (await deliveryNotice(session?.pending));
  if (session) session.notice = undefined;
  return (
    <>
      <h1>Sign in</h1>
      {notice && <p role="status">{notice}</p>}
      <Content session={session} />
    </>
  );
}

function Content({ session }: { session: Session | undefined }) {
  const { signedInAs, pending } = session ?? {};
  if (signedInAs)
    return (
      <>
        <p>{`You are signed in as ${signedInAs}.`}</p>
        <form method="post" action="/sign-out">
          <button>Sign out</button>
        </form>
      </>
    );
  if (!pending)
    return (
      <form method="post" action="/code">
        <label>
          WhatsApp number, with + and country code <input name="to" type="tel" autoComplete="tel" required />
        </label>{' '}
        <button>Send code</button>
      </form>
    );
  return (
    <>
      {pending.sendIds.length > 0 && (
        <>
          <p>{`We sent a code to ${pending.to} by WhatsApp.`}</p>
          <form method="post" action="/verify">
            <label>
              Code <input name="code" inputMode="numeric" autoComplete="one-time-code" required />
            </label>{' '}
            <button>Sign in</button>
          </form>
        </>
      )}
      <form method="post" action="/resend">
        <button>Send a new code</button>
      </form>
      <form method="post" action="/restart">
        <button>Use another number</button>
      </form>
    </>
  );
}
