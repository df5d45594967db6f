import type { Fault } from '@onecode/simulator';
import type { TestDatabase } from '@onecode/store/testing';
import type { OwnAnswer, TappedRequest } from './providerTap.js';

/** One of everything that can come of a call. */
export const FAULTS: readonly { fault: Fault | null; end: 'delivered' | 'failed' }[] = [
  { fault: null, end: 'delivered' },
  { fault: { duplicates: 2, disorder: true, receiptsBeforeAnswer: true }, end: 'delivered' },
  { fault: { error: 131000 }, end: 'failed' },
  { fault: { error: 131026 }, end: 'failed' },
  { fault: { error: 131009 }, end: 'failed' },
  { fault: { lateFailure: 131026 }, end: 'failed' },
  { fault: { reset: 'before' }, end: 'failed' },
  { fault: { reset: 'after' }, end: 'delivered' },
  { fault: { wrongBody: 'no_id' }, end: 'delivered' },
  { fault: { wrongBody: 'html', http: 500 }, end: 'failed' },
];

const QUOTED_IN_REFUSAL = '+5511987660090';
const QUOTED_IN_FAILURE = '+5511987660091';
const QUOTED_IN_SUCCESS = '+5511987660092';

/** A recipient for each fault, and three whose answers repeat all that the provider was told. */
export const RECIPIENTS: readonly { recipient: string; fault: Fault | null; end: 'delivered' | 'failed' }[] =
  [
    ...FAULTS.map((expected, index) => ({ recipient: `+55119876600${10 + index}`, ...expected })),
    ...[QUOTED_IN_REFUSAL, QUOTED_IN_FAILURE, QUOTED_IN_SUCCESS].map((recipient) => ({
      recipient,
      fault: null,
      end: 'failed' as const,
    })),
  ];

/** A provider that quotes: the token, the number and the code, in every member that an answer has. */
export function quotingAnswer({ headers, body }: TappedRequest): OwnAnswer | null {
  const quote = `${headers.authorization} ${body} wamid.${Buffer.from(body).toString('base64')}`;
  const error = {
    message: quote,
    type: quote,
    error_data: { details: quote },
    error_user_title: quote,
    fbtrace_id: quote,
  };
  if (body.includes(QUOTED_IN_REFUSAL))
    return { status: 400, body: JSON.stringify({ error: { ...error, code: 131026 } }) };
  if (body.includes(QUOTED_IN_FAILURE))
    return { status: 503, body: JSON.stringify({ error: { ...error, code: quote } }) };
  if (body.includes(QUOTED_IN_SUCCESS)) return { status: 200, body: `${quote}{` };
  return null;
}

/**
 * Makes the database refuse every write of sends and receipts, with messages and details that quote the whole row, as
 * constraint violations do.
 *
 * @returns what ends it
 */
export async function refuseInDatabase(db: TestDatabase): Promise<() => Promise<void>> {
  await db.sql(
    `create function refuse() returns trigger language plpgsql as $$ begin
       raise exception 'refused by a test: % %', ltrim(new.recipient, '+'), row_to_json(new)
         using detail = 'Failing row contains ' || new::text, hint = new::text;
     end $$`,
  );
  // Times of the next enqueue may change, so that sweeps go on; attempts too, so that each refusal is met by a worker as well.
  await db.sql(
    'create trigger refuse before insert or update of status, verification on sends for each row execute function refuse()',
  );
  return async () => {
    await db.sql('drop trigger refuse on sends');
    await db.sql('drop function refuse()');
  };
}
