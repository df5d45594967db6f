import type { Fault } from '@onecode/simulator';
import type { TapAnswer, TappedRequest } from './providerTap.js';
import type { TestDatabase } from './testDatabase.js';

interface FaultCase {
  /** Null for a provider without a fault. */
  fault: Fault | null;
  /** The send's final status. */
  end: 'delivered' | 'failed';
}

/** Every kind of outcome that a call to the provider has. */
export const LEAK_FAULTS: readonly FaultCase[] = [
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

/** A recipient for each fault, and three for whom the provider quotes the whole request in its answer. */
export const LEAK_RECIPIENTS: readonly (FaultCase & { recipient: string })[] = [
  ...LEAK_FAULTS.map((expected, index) => ({ recipient: `+55119876600${10 + index}`, ...expected })),
  ...[QUOTED_IN_REFUSAL, QUOTED_IN_FAILURE, QUOTED_IN_SUCCESS].map((recipient) => ({
    recipient,
    fault: null,
    end: 'failed' as const,
  })),
];

/** The provider's answer to such a recipient: it quotes the token, the number and the code in every member. */
export function answerQuotingRequest({ headers, body }: TappedRequest): TapAnswer | null {
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
    return { status: 500, body: JSON.stringify({ error: { ...error, code: quote } }) };
  if (body.includes(QUOTED_IN_SUCCESS)) return { status: 200, body: `${quote}{` };
  return null;
}

/**
 * Makes the database refuse every new send and every new status of one, with errors that quote the whole row, as constraint
 * violations do.
 *
 * @returns a function that ends this
 */
export async function refuseSendWrites(db: TestDatabase): Promise<() => Promise<void>> {
  await db.sql(
    `create function refuse() returns trigger language plpgsql as $$ begin
       raise exception 'refused by a test: % %', ltrim(new.recipient, '+'), row_to_json(new)
         using detail = 'Failing row contains ' || new::text, hint = new::text;
     end $$`,
  );
  // Times of enqueueing may change, so that sweeps go on; attempts too, so that workers meet refusals as well.
  await db.sql(
    'create trigger refuse before insert or update of status, verification on sends for each row execute function refuse()',
  );
  return async () => {
    await db.sql('drop trigger refuse on sends');
    await db.sql('drop function refuse()');
  };
}
