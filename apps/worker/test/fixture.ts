import { buildSender, type TestCaller } from '@onecode/store/testing';
import { House } from './house.js';
import { startWorker, type TestWorker, type TestWorkerOptions } from './worker.js';

export interface FixtureOptions extends TestWorkerOptions {
  /** How many senders every test begins with; one unless said otherwise. */
  senders?: number;
  /** What the provider's side answers by itself, see `House.open`. */
  ownAnswer?: Parameters<typeof House.open>[0];
}

/** To be read from within hooks and tests only. */
export interface Fixture {
  readonly house: House;
  readonly worker: TestWorker;
  /** A live caller, new for every test. */
  readonly caller: TestCaller;
}

/** One house with one worker for all tests of the surrounding `describe`, cleared before each of them. */
export function useWorker({ senders = 1, ownAnswer, ...options }: FixtureOptions = {}): Fixture {
  let house: House;
  let worker: TestWorker;
  let caller: TestCaller;
  beforeAll(async () => {
    house = await House.open(ownAnswer);
    worker = await startWorker(house, options);
  });
  beforeEach(async () => {
    await worker.begin();
    for (let nth = 0; nth < senders; nth++) await buildSender(house.db.database);
    caller = await house.caller();
  });
  afterAll(async () => {
    await worker.stop();
    await house.close();
  });
  return {
    get house() {
      return house;
    },
    get worker() {
      return worker;
    },
    get caller() {
      return caller;
    },
  };
}
