// Run by runtimes.full.test.ts in each runtime: calls the built client, and prints what came of it.
import { IndeterminateVerificationError, Onecode, ProblemError } from '../dist/esm/index.js';

const [baseUrl, apiKey] = process.argv.slice(2);
const onecode = new Onecode({ apiKey, baseUrl, timeoutMs: 5_000 });

const send = await onecode.send({ to: '+447700900123' });
await onecode.signupSettings();
const open = await onecode.verify(send.id, '004217').catch((error) => error);
const judged = await onecode.verify(send.id, '004217');
const misdirected = await onecode.verify(send.id, '004217').catch((error) => error);
const redirected = await onecode.verify(send.id, '004217').catch((error) => error);
const refused = await onecode.status(send.id).catch((error) => error);
const aborted = await onecode
  .send({ to: '+447700900123' }, { signal: AbortSignal.abort('no') })
  .catch((error) => error);
const followed = await onecode.waitFor(send.id, { until: 'delivered' });

console.log(
  JSON.stringify({
    open: open instanceof IndeterminateVerificationError,
    judged,
    misdirected: misdirected instanceof IndeterminateVerificationError,
    redirected: redirected instanceof IndeterminateVerificationError,
    refused: refused instanceof ProblemError && refused.code,
    aborted,
    followed: followed.status,
  }),
);
