import { afterEach, beforeEach } from '@jest/globals';
import { testDatabase, type TestDatabase } from './postgres.js';
import { Receiver, eventually } from './receiver.js';
import { TestService, wipe, type ServiceOptions } from './service.js';

export interface Dispatching {
  readonly database: TestDatabase;
  receiver: Receiver;
  /** Set by `start`, or by a test that needs only some parts. Stopped after the test. */
  service: TestService;
  /** Starts to fan out and send. */
  start(options?: ServiceOptions): void;
  /** Resolves when this many deliveries are settled. */
  settled(count: number): Promise<void>;
}

/** For the specs of one file: a database, emptied before each test, and a receiver for each test. */
export const dispatching = (): Dispatching => {
  const test = {
    database: testDatabase(),
    start(options = {}) {
      test.service = new TestService(test.database, options).start();
    },
    settled: (count) =>
      eventually(async () => {
        const deliveries = await test.service.deliveries();
        return deliveries.filter(({ status }) => status !== 'pending').length === count;
      }),
  } as { -readonly [Key in keyof Dispatching]: Dispatching[Key] };
  beforeEach(async () => {
    await wipe(test.database);
    test.receiver = await Receiver.start();
  });
  afterEach(async () => {
    await test.service.stop();
    await test.receiver.stop();
  });
  return test;
};
