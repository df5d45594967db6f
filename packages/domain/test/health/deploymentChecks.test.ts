import {
  databaseChecks,
  healthChecks,
  numberPepperCheck,
  skipped,
  webhookCheck,
  type DatabaseFacts,
} from '../../src/health/deploymentChecks.js';
import { recipientKeys } from '../../src/recipients/numberKeys.js';

const RECIPIENT = '+5511987654321';
const AGREES = { id: 'an-id', clockAheadMs: 0 } as const;
const WELL: DatabaseFacts = {
  version: '18.4',
  settings: { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
  clockAheadMs: 0,
  rightsFault: null,
  schemaFault: null,
  processes: [
    { ...AGREES, kind: 'api', release: '1.1.0', state: 'running' },
    { ...AGREES, kind: 'api', release: '1.1.0', state: 'running', clockAheadMs: -5_000 },
    { ...AGREES, kind: 'worker', release: '1.1.0', state: 'running' },
    { ...AGREES, kind: 'worker', release: '0.9.0', state: 'stopped', clockAheadMs: 300_000 },
  ],
  keyVersions: [2],
  senders: [
    { state: 'active', account: null },
    { state: 'paused', account: null },
    { state: 'active', account: 'Loja Azul' },
  ],
  accountsWithoutSender: [],
  holds: [],
};

const HOLD = {
  accountName: null,
  reason: 'rejected',
  since: new Date('2026-01-02T03:04:05Z'),
  setBy: 'carla',
};

const notOk = (change: Partial<DatabaseFacts>, keys: readonly number[] | null = [2, 1]): string[] =>
  databaseChecks({ ...WELL, ...change }, keys)
    .filter(({ ok }) => !ok)
    .map(({ check, detail }) => `${check}: ${detail}`);

describe('databaseChecks', () => {
  it('passes every check, with its facts, if nothing is wrong', () => {
    expect(notOk({})).toEqual([]);
    expect(databaseChecks(WELL, [2, 1]).map(({ detail }) => detail)).toEqual(
      expect.arrayContaining(['Running: 2 api, 1 worker, of release 1.1.0.', '2 of 3 are active.']),
    );
  });

  it.each<[string, Partial<DatabaseFacts>, RegExp]>([
    [
      'fsync is off',
      { settings: { ...WELL.settings, fsync: 'off' } },
      /^database_durability: Set fsync to on/,
    ],
    [
      'commits do not wait for the disk',
      { settings: { ...WELL.settings, synchronous_commit: 'off' } },
      /^database_durability: Set synchronous_commit to on/,
    ],
    ['this clock is ahead', { clockAheadMs: 61_000 }, /^clocks: .* 61\.0 s ahead of/],
    ['this clock is behind', { clockAheadMs: -7_500 }, /^clocks: .* 7\.5 s behind/],
    [
      'clocks of processes are wrong',
      {
        processes: [
          ...WELL.processes,
          { ...AGREES, id: 'fast', kind: 'api', release: '1.1.0', state: 'running', clockAheadMs: 300_000 },
          { ...AGREES, id: 'slow', kind: 'worker', release: '1.1.0', state: 'running', clockAheadMs: -5_001 },
        ],
      },
      /^clocks: .* api fast is 300\.0 s ahead of .* worker slow is 5\.0 s behind/,
    ],
    [
      'a right is missing',
      { rightsFault: 'the role x lacks rights on sends (select)' },
      /^database_rights: The role x lacks rights on sends \(select\)\.$/,
    ],
    ['the schema is too old', { schemaFault: 'the schema is too old' }, /^schema: The schema is too old\.$/],
    ['no process runs', { processes: [] }, /^processes: No api and no worker is running/],
    [
      'the only worker is silent',
      { processes: [WELL.processes[0]!, { ...AGREES, kind: 'worker', release: '1.1.0', state: 'silent' }] },
      /^processes: No worker is running/,
    ],
    [
      'two releases run',
      { processes: [WELL.processes[0]!, { ...AGREES, kind: 'worker', release: '0.9.0', state: 'running' }] },
      /^processes: Releases 0\.9\.0 and 1\.1\.0 run at the same time/,
    ],
    ['a key is missing', { keyVersions: [2, 3] }, /^secret_key: .*version 3, which SECRET_KEY lacks/],
    ['there is no sender', { senders: [] }, /^senders: There is no sender/],
    [
      'no sender can send',
      { senders: [{ state: 'paused', account: null }] },
      /^senders: None of the shared senders can send/,
    ],
    [
      'no sender of an account can send',
      { senders: [...WELL.senders, { state: 'paused', account: 'Loja Verde' }] },
      /^senders: None of the senders of the account Loja Verde can send/,
    ],
    [
      'an account uses only its own senders and has none',
      { accountsWithoutSender: ['Loja Verde'] },
      /^senders: These accounts use only their own senders and have none: Loja Verde\./,
    ],
    [
      'all live sends are on hold',
      { holds: [{ ...HOLD, kind: 'live', target: '' }] },
      /^holds: All live sends .* since 2026-01-02T03:04:05\.000Z, set by carla with the reason "rejected": run onecode hold release live to/,
    ],
    [
      'a country and an account are on hold',
      {
        holds: [
          { ...HOLD, kind: 'country', target: 'BR' },
          { ...HOLD, kind: 'account', target: 'id', accountName: 'Loja Verde' },
        ],
      },
      /^holds: Live sends to BR .* hold release country BR to .* of the account Loja Verde .* hold release account id to send them\.$/,
    ],
  ])('reports a fault when %s', (_, change, expected) => {
    expect(notOk(change)).toEqual([expect.stringMatching(expected)]);
  });

  it('skips the checks after the schema if the schema does not fit', () => {
    const unread = { schemaFault: 'the schema is too old', processes: [], keyVersions: [], senders: [] };
    expect(databaseChecks({ ...WELL, ...unread }, [2]).map(({ check }) => check)).toEqual([
      'database',
      'database_durability',
      'clocks',
      'schema',
    ]);
  });

  it('reports older keys in use, and skips the check without SECRET_KEY', () => {
    const judged = (keys: readonly number[] | null, keyVersions: number[]) =>
      databaseChecks({ ...WELL, keyVersions }, keys).find(({ check }) => check === 'secret_key')!;
    expect(judged([2, 1], [1, 2]).detail).toMatch(/^Older keys are still in use: 1\./);
    expect(judged(null, [9])).toEqual({ ...skipped('secret_key', 'SECRET_KEY'), ok: null });
  });
});

describe('healthChecks', () => {
  it('names the subject, remedy and runbook of each finding, and passes for a pause by an operator', () => {
    const reason = 'rejected_by_provider';
    const failures = { country: 'BR', reason, failed: 12, ended: 30, accounts: 1 } as const;
    const deliveries = {
      senderId: 's',
      lastDay: { accepted: 200, undelivered: 40 },
      weekBefore: { accepted: 900, undelivered: 9 },
    };
    const template = { template: 'code', language: 'pt_BR', status: '', at: '', serving: 1 };
    const account = { id: 'a', name: 'Loja Azul' };
    const holding = [{ senderId: 's', number: '+1 ••••• 3881', messages: 12 }];
    expect(healthChecks([])).toMatchObject([{ check: 'health', ok: true }]);
    const checks = healthChecks([
      { name: 'insufficient_senders', cause: 'none', owner: 'us', severity: 'failing' },
      { name: 'sends_failing', cause: 'country', owner: 'meta', severity: 'degraded', failures },
      { name: 'deliveries_missing', cause: 'sender', owner: 'meta', severity: 'degraded', deliveries },
      { name: 'messages_held', cause: 'held', owner: 'meta', severity: 'degraded', holding },
      { name: 'senders_blocked', cause: 'template', owner: 'meta', severity: 'degraded', template },
      { name: 'paused_by_operator', cause: 'hold', owner: 'held', severity: 'degraded' },
      { name: 'paused_by_operator', cause: 'queue', owner: 'held', severity: 'degraded' },
      { name: 'no_workers', cause: 'none', owner: 'us', severity: 'degraded', account },
    ]);
    expect(checks.map(({ check, ok, detail }) => `${check} ${ok}, ${detail}`)).toEqual(
      [
        /^health_insufficient_senders false, failing, us: .* there is no sender\. .* Steps: docs\/runbooks\.md#insufficient_senders$/,
        /^health_sends_failing false, degraded, meta, country BR, 12 of 30 sends failed, mostly because of rejected_by/,
        /^health_deliveries_missing false, degraded, meta, sender s, 40 of 200 messages .* arrived, 9 of 900 in the week before: /,
        /^health_messages_held false, degraded, meta, \+1 ••••• 3881 12 held messages in the last hour: Meta accepts /,
        /^health_senders_blocked false, degraded, meta, template code pt_BR: /,
        /^health_paused_by_operator false, degraded, held: Sends are on hold\. .*#paused_by_operator$/,
        /^health_paused_by_operator true, degraded, held: /,
        /^health_no_workers false, degraded, us, account Loja Azul: /,
      ].map((line) => expect.stringMatching(line) as string),
    );
  });
});

describe('webhookCheck', () => {
  it.each([
    [{ status: 403, contentType: 'application/problem+json' }, true],
    [{ status: 403, contentType: 'text/html' }, false],
    [{ status: 404, contentType: 'application/problem+json' }, false],
    ['ENOTFOUND', false],
  ])('checks the response %j: ok is %s', (answer, ok) => {
    expect(webhookCheck(answer)).toMatchObject({ check: 'webhook', ok });
  });
});

describe('numberPepperCheck', () => {
  const pepper = (byte: number) => ({ current: 1, keys: new Map([[1, Buffer.alloc(32, byte)]]) });
  const [recipientKey = ''] = recipientKeys(pepper(1), RECIPIENT);

  it.each([
    ['a pepper that matches the latest number', RECIPIENT, pepper(1), true],
    ['a pepper that does not match', RECIPIENT, pepper(2), false],
    ['a masked number', '+55 ••••• 4321', pepper(2), true],
    ['a pepper that is not set', RECIPIENT, null, null],
  ])('returns the check for %s', (_, recipient, given, ok) => {
    expect(numberPepperCheck({ recipient, recipientKey }, given)).toMatchObject({
      check: 'number_pepper',
      ok,
    });
  });
});
