import { NO_COUNTRY, type Locale } from '@onecode/domain';
import { MUTABLE_MAILS, type MailFacts, type MailKind } from '@onecode/store/mails';
import { letterOf, type Letter } from './letter.js';
import { AROUND, TEXTS, type Target, type Text, type Around } from './texts.js';

/** A mail of the outbox, with its link decrypted. */
export interface MailInput {
  kind: MailKind;
  language: Locale;
  facts: Record<string, unknown>;
  link: string | null;
  isKnown: boolean;
}

const NAME_LENGTH_MAX = 80;

/** Returns a user-chosen name that no mail program turns into a link, so that an invitation cannot carry an advertisement. */
function plainName(name: string): string {
  const line = name.replace(/[\s\p{C}]+/gu, ' ').trim();
  const short = line.length > NAME_LENGTH_MAX ? `${line.slice(0, NAME_LENGTH_MAX)}…` : line;
  // A word joiner is invisible and breaks the address.
  return short.replace(/[./:@](?=\S)/g, '$&\u2060');
}

/** Returns the mail in the recipient's language. @param consoleUrl null omits links to the console */
export function mailText(
  { kind, language, facts, link, isKnown }: MailInput,
  consoleUrl: string | null,
): Letter {
  const plain = Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [name, typeof fact === 'string' ? plainName(fact) : fact]),
  );
  const { copy, muted, fixed, yourAccount, noCountry } = AROUND[language];
  const isTrial = facts['isTrial'] === true;
  const around: Around = {
    account: typeof plain['account'] === 'string' ? plain['account'] : '',
    inSubject: (name) => (isTrial ? yourAccount : name),
    isKnown,
    number: (value) => value.toLocaleString(language),
    country: (code) =>
      code === NO_COUNTRY
        ? noCountry
        : (new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code),
    language: (code) => new Intl.DisplayNames(language, { type: 'language' }).of(code) ?? code,
    time: (at) =>
      `${new Date(at).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC`,
  };
  // `plainName` must not change times, because they are parsed later. It need not change the texts of staff (notes) and of Meta (reasons).
  const unchanged = ['until', 'since', 'deleteAt', 'note', 'reason'].filter(
    (name) => typeof facts[name] === 'string',
  );
  const given = { ...plain, ...Object.fromEntries(unchanged.map((name) => [name, facts[name]])) };
  const write = TEXTS[language][kind] as (facts: MailFacts[MailKind], around: Around) => Text;
  const { subject: written, paragraphs, button } = write(given as MailFacts[MailKind], around);
  // The subject may begin with `your account`, which needs a capital.
  const subject = isTrial ? written.charAt(0).toUpperCase() + written.slice(1) : written;
  const url = button && addressOf(button[1], { link, consoleUrl, accountId: facts['accountId'] });
  const isMutable = (MUTABLE_MAILS as readonly MailKind[]).includes(kind);
  const action = button && url != null ? { label: button[0], url } : null;
  return letterOf({ subject, paragraphs, action, footer: isMutable ? muted : fixed }, language, copy);
}

function addressOf(
  target: Target,
  { link, consoleUrl, accountId }: { link: string | null; consoleUrl: string | null; accountId: unknown },
): string | null {
  if (target === 'link') return link;
  // Without a console URL, the link of a sign-up provides the console's origin.
  const base = consoleUrl ?? (link === null ? null : new URL(link).origin);
  if (base === null) return null;
  const account = `/accounts/${String(accountId)}`;
  const PAGES: Record<Exclude<Target, 'link'>, string> = {
    'sign-in': '/sign-in',
    profile: '/profile',
    applications: `${account}/applications`,
    webhook: `${account}/webhook`,
    team: `${account}/team`,
    overview: `${account}/overview`,
    senders: accountId === undefined ? '/staff/senders' : `${account}/senders`,
    health: '/staff/health',
  };
  return base + PAGES[target];
}
