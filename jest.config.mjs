import vm from 'node:vm';

// Only with an option of Node does Jest load ES modules. Other programs read this file too.
if (!('SourceTextModule' in vm) && /[\\/]jest(?:\.js)?$/.test(process.argv[1] ?? ''))
  await (await import('./scripts/test/runWithModules.mjs')).runWithModules();

// West of UTC, the local date of a time may be the day before: a result must not depend on the time zone of the process.
process.env['TZ'] ??= 'America/Sao_Paulo';

/** `npm run test:all` sets ALL_TESTS, and a long test can be named. */
const isFull = process.env['ALL_TESTS'] === '1' || process.argv.some((arg) => arg.includes('.full.test'));

/** This folder as a regular expression. */
const root = import.meta.dirname.replaceAll(/[^\w/]/g, String.raw`\$&`);

/** Tests run as ES modules from the TypeScript sources, on services that `npm test`, `npm run services` or `globalSetup` starts. */
export default {
  testMatch: ['<rootDir>/{packages,apps}/*/test/**/*.test.ts', '<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  moduleNameMapper: {
    '^@onecode/(client|code-samples|domain|whatsapp|runtime|simulator|testing)$':
      '<rootDir>/packages/$1/src/index.ts',
    '^@onecode/(store)/(accounts|client|holds|mails|operations|reports|senders|sends|users)$':
      '<rootDir>/packages/$1/src/$2/index.ts',
    '^@onecode/(store)/migrations$': '<rootDir>/packages/$1/src/migrations/migrations.ts',
    '^@onecode/(store)/sign-in$': '<rootDir>/packages/$1/src/users/authStorage.ts',
    '^@onecode/(runtime)/(config|version)$': '<rootDir>/packages/$1/src/$2.ts',
    '^@onecode/(whatsapp)/client$': '<rootDir>/packages/$1/src/client.ts',
    '^@onecode/(client)/testing$': '<rootDir>/packages/$1/src/testing/index.ts',
    '^@onecode/(testing)/breaking-service$': '<rootDir>/packages/$1/src/breakingService.ts',
    '^@onecode/(testing)/claim-model$': '<rootDir>/packages/$1/src/claimModel.ts',
    '^@onecode/(testing)/contract$': '<rootDir>/packages/$1/src/contract.ts',
    '^@onecode/(testing)/contract-tests$': '<rootDir>/packages/$1/src/contractTests/index.ts',
  },
  resolver: '<rootDir>/jest.resolver.mjs',
  testPathIgnorePatterns: ['/node_modules/', ...(isFull ? [] : ['\\.full\\.test\\.ts$'])],
  transformIgnorePatterns: ['/node_modules/'],
  // What tests unpack is there.
  modulePathIgnorePatterns: [`^${root}/\\.cache/`],
  globalSetup: '<rootDir>/scripts/test/globalSetup.mjs',
  globalTeardown: '<rootDir>/scripts/test/globalTeardown.mjs',
  testEnvironment: 'node',
  testSequencer: '<rootDir>/jest.sequencer.mjs',
  testTimeout: 60_000,
  // Tests wait for processes and for time-outs: with three workers, a sixth of two cores was idle.
  maxWorkers: 4,
  // Modules of finished test files stay in a worker's memory; collecting them takes more time than starting a new worker.
  workerIdleMemoryLimit: '600MB',
  watchman: false,
};
