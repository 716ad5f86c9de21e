import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startStack, type StartedStack } from '../support/index.js';
import { Integrator, person } from '../support/integrator.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';

const ROUNDS = rounds(1, 200);
const SEED = seedOr(20261120);
const POSTS = 8;

describe(`a worker that freezes at random moments (${again('frozen-worker.spec', ROUNDS, SEED)})`, () => {
  let stack: StartedStack;
  let database: pg.Client;
  let aging: NodeJS.Timeout;
  beforeAll(async () => {
    // Epochs end all the time, so that keys are rewrapped and destroyed while readings are created.
    stack = await startStack({
      env: {
        KEY_EPOCH_MS: '2000',
        KEY_RETENTION_MS: '5000',
      },
    });
    database = new pg.Client({ connectionString: stack.databaseUrl });
    await database.connect();
    // The day between the announcement of a destruction and the destruction passes at once.
    aging = setInterval(
      () =>
        void database.query(`update platform.key_epoch set announced_at = announced_at - interval '1 day'`),
      1_000,
    );
  });
  afterAll(async () => {
    clearInterval(aging);
    await database?.end();
    await stack?.stop();
  });

  it('keeps no POST from being accepted', async () => {
    const random = new Random(SEED);
    const customer = await Integrator.open(stack, 1_000_000);
    const refused: string[] = [];
    let slowestMs = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      // Work for the worker, at which it is frozen.
      await Promise.all(Array.from({ length: POSTS }, () => customer.create(person())));
      await delay(random.between(0, 400));
      const { worker } = stack.pids();
      process.kill(worker, 'SIGSTOP');
      try {
        for (let post = 0; post < POSTS; post += 1) {
          const startedAt = performance.now();
          const { status, body } = await customer.create(person());
          slowestMs = Math.max(slowestMs, performance.now() - startedAt);
          if (status !== 202) refused.push(`round ${round}: ${status} ${JSON.stringify(body)}`);
        }
      } finally {
        process.kill(worker, 'SIGCONT');
      }
    }
    process.stderr.write(
      `${ROUNDS * POSTS} readings while frozen, the slowest ${Math.round(slowestMs)} ms\n`,
    );
    expect(refused).toEqual([]);
  }, 3_600_000);
});
