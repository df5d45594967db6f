import {
  compareReleases,
  contractFaults,
  parseContract,
  schemaFault,
  type Contract,
  type RunningProcess,
} from '@onecode/domain';

const RELEASE = { version: '1.2.0', migrations: ['01_first', '02_second'] };
const APPLIED = RELEASE.migrations;
const DROP = '03_contract_since_1_2_0_drop_note';
const contract = (changes: Partial<Contract> = {}): Contract => ({
  migration: DROP,
  oldestRelease: '1.2.0',
  ...changes,
});
const running = (changes: Partial<RunningProcess> = {}): RunningProcess => ({
  kind: 'api',
  release: '1.2.0',
  lastMigration: '02_second',
  ...changes,
});

describe('compareReleases', () => {
  it('sorts versions by their numbers', () => {
    const sorted = ['0.9.9', '1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0'];
    expect(sorted.toReversed().toSorted(compareReleases)).toEqual(sorted);
    expect(compareReleases('1.2.0', '1.2.0')).toBe(0);
  });
});

describe('schemaFault', () => {
  it('returns null if the release’s migrations are applied and newer ones only add to the schema', () => {
    expect(schemaFault(RELEASE, [...APPLIED, '03_add'])).toBeNull();
  });

  it.each([
    [[], '01_first is missing, and 1 more'],
    [['01_first'], '02_second is missing'],
    [['01_first', '03_add'], '02_second is missing'],
  ])('returns a fault if only %j are applied', (applied, text) => {
    const fault = schemaFault(RELEASE, applied);
    expect(fault).toContain('the schema is too old for release 1.2.0');
    expect(fault).toContain(text);
    expect(fault).not.toContain('\n');
  });

  it.each([
    ['03_contract_since_1_2_0_drop', null],
    ['03_contract_since_1_1_0_drop', null],
    ['03_contract_since_1_3_0_drop', 'run release 1.3.0 or a newer one'],
    ['03_contract_drop', 'run a newer release'],
  ])('returns the fault of the unknown migration %s: %s', (migration, text) => {
    const fault = schemaFault(RELEASE, [...APPLIED, migration]);
    if (text === null) expect(fault).toBeNull();
    else {
      expect(fault).toContain(
        `the schema is too new for release 1.2.0: migration ${migration} removed something`,
      );
      expect(fault).toContain(text);
    }
  });

  it('returns null for a contracting migration of the release itself', () => {
    const migrations = [...APPLIED, '03_contract_drop'];
    expect(schemaFault({ ...RELEASE, migrations }, migrations)).toBeNull();
  });
});

describe('contractFaults', () => {
  it.each([
    ['20270101000000_contract_since_1_12_0_drop_note', { oldestRelease: '1.12.0' }],
    ['20270101000000_contract_drop_note', { oldestRelease: null }],
    ['20270101000000_contracts', null],
    ['20270101000000_signed_contract_since_1_2_0_note', null],
  ])('recognizes a contracting migration by its name: %s', (migration, expected) => {
    expect(parseContract(migration)).toEqual(expected && { migration, ...expected });
  });

  it('returns nothing if all running processes work without the removed parts', () => {
    const processes = [running(), running({ release: '1.3.0', lastMigration: DROP })];
    expect(contractFaults([contract()], processes, ['1.2.0'])).toEqual([]);
    expect(contractFaults([contract()], [], ['1.1.0', '1.4.0'])).toEqual([]);
  });

  it('names the processes of older releases', () => {
    const old = { release: '1.1.0', lastMigration: '01_first' };
    const processes = [running(), running(old), running(old), running({ ...old, kind: 'worker' })];
    expect(contractFaults([contract()], processes, ['1.2.0'])).toEqual(
      ['2 × api of release 1.1.0', '1 × worker of release 1.1.0'].map(
        (who) => `migration ${DROP} breaks ${who}: it removes something that they need`,
      ),
    );
  });

  it('names every process that lacks a contracting migration without a release in its name', () => {
    const unnamed = contract({ oldestRelease: null });
    expect(contractFaults([unnamed], [running({ lastMigration: DROP })], [])).toEqual([]);
    expect(contractFaults([unnamed], [running()], [])).toHaveLength(1);
  });

  it('reports a skipped release that has never run', () => {
    expect(contractFaults([contract()], [], ['1.1.0'])).toEqual([
      expect.stringContaining('skips release 1.2.0, which has never run here'),
    ]);
  });
});
