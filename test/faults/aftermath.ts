/** What has to come of a process that is killed at each crash point; the promises say how it is checked. */
export const AFTERMATH: Readonly<Record<string, string>> = {
  'api create before commit': 'no row, no unit, no idempotency key: the repeat creates the send',
  'api create after commit': 'one send and one charge; the sweep enqueues it, and the repeat gets it',
  'api create before answer': 'the same, with the job on its way',
  'api verify before commit': 'the guess was not judged',
  'api verify after commit': 'the guess is spent, and nobody gets a second valid: true',
  'api webhook before store': 'nothing was stored and nothing answered: the provider repeats it',
  'api webhook after store': 'the receipt is applied; the repeat is known',
  'worker before claim': 'the job comes again',
  'worker after claim': 'another worker takes over when the lease ends',
  'worker during call':
    'the outcome is unknown: the same code again at worst, settled by a receipt, and no refund by itself',
  'worker after call': 'the same, with a message that has certainly gone',
  'worker after pause': 'the sender rests, and the send goes to another when the lease ends',
  'worker after settle': 'everything is written: a further job does nothing',
  'worker before receipt': 'the receipt is taken again when its lease ends',
  'worker after receipt': 'the receipt is applied twice, and counts once',
  'worker before simulate': 'the job of the test send comes again',
  'worker before giving up': 'the next sweep fails the send, and its unit goes back once',
  'worker sweep before enqueue': 'the jobs come again three seconds later',
  'worker sweep after wake': 'the send is enqueued by the sweep',
};
