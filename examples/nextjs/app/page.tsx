import { cookies } from 'next/headers';
import { COOKIE_NAME } from '../lib/sessionCookie';
import { findSession, type Session } from '../lib/sessions';
import { deliveryNotice } from '../lib/signIn';
import { Form } from './form';

/** The page of a session: its number, its code, or that somebody is signed in. */
export default async function Page() {
  const session = findSession((await cookies()).get(COOKIE_NAME)?.value);
  if (!session) throw new Error('The proxy gives every visitor of this page a session.');
  const notice = session.notice ?? (await deliveryNotice(session.pending));
  session.notice = undefined;
  return (
    <>
      <h1>Sign in</h1>
      {notice && <p role="status">{notice}</p>}
      <Content session={session} />
    </>
  );
}

function Content({ session }: { session: Session }) {
  const { csrf, signedInAs, pending } = session;
  if (signedInAs)
    return (
      <>
        <p>{`You are signed in as ${signedInAs}.`}</p>
        <Form action="/sign-out" csrf={csrf}>
          <button>Sign out</button>
        </Form>
      </>
    );
  if (!pending)
    return (
      <Form action="/code" csrf={csrf}>
        <label>
          WhatsApp number, with + and country code <input name="to" type="tel" autoComplete="tel" required />
        </label>{' '}
        <button>Send code</button>
      </Form>
    );
  return (
    <>
      {pending.sendId && (
        <>
          <p>{`We sent a code to ${pending.to} by WhatsApp.`}</p>
          <Form action="/verify" csrf={csrf}>
            <label>
              Code <input name="code" inputMode="numeric" autoComplete="one-time-code" required />
            </label>{' '}
            <button>Sign in</button>
          </Form>
        </>
      )}
      <Form action="/resend" csrf={csrf}>
        <button>Send a new code</button>
      </Form>
      <Form action="/restart" csrf={csrf}>
        <button>Use another number</button>
      </Form>
    </>
  );
}
