import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { movedTo, reading } from '../../../test/events.js';
import { testDatabase } from '../../../test/postgres.js';
import { Receiver, eventually, ok } from '../../../test/receiver.js';
import { TestService, wipe } from '../../../test/service.js';

/** More workspaces than one worker takes at a time. */
const WORKSPACES = 60;
const EVENTS = 8;

const database = testDatabase();
let receiver: Receiver;
let workers: TestService[];
let pools: pg.Pool[];
/** Attempts by worker: each worker resolves the receiver's address itself. */
let sent: number[];

beforeEach(async () => {
  await wipe(database);
  receiver = await Receiver.start();
  [workers, pools, sent] = [[], [], []];
});
afterEach(async () => {
  for (const worker of workers) await worker.stop();
  for (const pool of pools) await pool.end();
  await receiver.stop();
});

/** With connections of their own, as two processes have them. */
const startWorkers = (): void => {
  for (let index = 0; index < 2; index += 1) {
    const pool = new pg.Pool({ connectionString: database.url, max: 5 });
    pool.on('error', () => undefined);
    pools.push(pool);
    sent.push(0);
    const resolve = async (): Promise<readonly string[]> => {
      sent[index]! += 1;
      return ['127.0.0.1'];
    };
    const [first] = workers;
    workers.push(new TestService({ ...database, pool }, { resolve, ...(first && { store: first.store }) }));
  }
  workers[0]!.follow();
  for (const worker of workers) worker.dispatch();
};
const allSucceeded = (): Promise<void> =>
  eventually(async () => {
    const { rows } = await database.pool.query<{ succeeded: number }>(
      `select count(*)::integer as succeeded from webhooks.settled_delivery where status = 'succeeded'`,
    );
    return rows[0]!.succeeded === WORKSPACES * EVENTS;
  });

describe('Two workers', () => {
  it('share the load: each sends a part of it, and nothing is sent twice', async () => {
    receiver.answer = (response, received, index) => void setTimeout(() => ok(response, received, index), 10);
    startWorkers();
    const named = receiver.url.replace('127.0.0.1', 'receiver.example');
    for (let n = 0; n < WORKSPACES; n += 1) await workers[0]!.create(named, { workspaceId: `ws_${n}` });
    sent.fill(0);
    for (let n = 0; n < WORKSPACES * EVENTS; n += 1)
      await workers[0]!.happen(movedTo(`ws_${n % WORKSPACES}`, reading(randomUUID()).completed()));
    await allSucceeded();
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery-id']);
    expect(ids).toHaveLength(WORKSPACES * EVENTS);
    expect(new Set(ids).size).toBe(WORKSPACES * EVENTS);
    expect(sent[0]! + sent[1]!).toBe(WORKSPACES * EVENTS);
    // How much, chance and the machine decide.
    expect(Math.min(...sent)).toBeGreaterThan(EVENTS);
  });
});
