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
/** More endpoints than a worker has slots for at a time, prompt or slow. */
const SILENT = 150;

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

/** Workers with connections of their own, as two processes have them. */
const startWorkers = (count: number, settings: Record<string, string> = {}): void => {
  for (let index = 0; index < count; index += 1) {
    const pool = new pg.Pool({ connectionString: database.url, max: 5 });
    pool.on('error', () => undefined);
    pools.push(pool);
    sent.push(0);
    const resolve = async (): Promise<readonly string[]> => {
      sent[index]! += 1;
      return ['127.0.0.1'];
    };
    const [first] = workers;
    workers.push(
      new TestService({ ...database, pool }, { settings, resolve, ...(first && { store: first.store }) }),
    );
  }
  workers[0]!.follow();
  for (const worker of workers) worker.dispatch();
};
const createEndpoints = async (): Promise<void> => {
  const named = receiver.url.replace('127.0.0.1', 'receiver.example');
  for (let n = 0; n < WORKSPACES; n += 1) await workers[0]!.create(named, { workspaceId: `ws_${n}` });
  sent.fill(0);
};
const happen = async (): Promise<void> => {
  for (let n = 0; n < WORKSPACES * EVENTS; n += 1) {
    const event = reading(randomUUID()).completed();
    await workers[0]!.happen(movedTo(`ws_${n % WORKSPACES}`, event));
  }
};
const allSucceeded = (): Promise<void> =>
  eventually(async () => {
    const { rows } = await database.pool.query<{ succeeded: number }>(
      `select count(*)::integer as succeeded from webhooks.settled_delivery where status = 'succeeded'`,
    );
    return rows[0]!.succeeded === WORKSPACES * EVENTS;
  });

describe('Two workers', () => {
  it('share the load: each sends a good part of it, and nothing is sent twice', async () => {
    receiver.answer = (response, received, index) => void setTimeout(() => ok(response, received, index), 10);
    startWorkers(2);
    await createEndpoints();
    await happen();
    await allSucceeded();
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery-id']);
    expect(ids).toHaveLength(WORKSPACES * EVENTS);
    expect(new Set(ids).size).toBe(WORKSPACES * EVENTS);
    expect(sent[0]! + sent[1]!).toBe(WORKSPACES * EVENTS);
    expect(Math.min(...sent)).toBeGreaterThan((WORKSPACES * EVENTS) / 4);
  });
});

describe('One worker', () => {
  it('has slots for an endpoint that answers when more than all its slots are asked for by silent ones', async () => {
    const settings = { WEBHOOK_ATTEMPT_TIMEOUT_MS: '200000' };
    const held: (() => void)[] = [];
    receiver.answer = (response, received, index) => void held.push(() => ok(response, received, index));
    const prompt = await Receiver.start();
    startWorkers(1, settings);
    const [worker] = workers as [TestService];
    const happenIn = async (workspaceId: string): Promise<void> =>
      worker.happen(movedTo(workspaceId, reading(randomUUID()).completed()));
    await worker.create(prompt.url, { workspaceId: 'ws_prompt' });
    await happenIn('ws_prompt');
    await eventually(() => prompt.received.length === 1);
    for (let n = 0; n < SILENT; n += 1) await worker.create(receiver.url, { workspaceId: `ws_silent_${n}` });
    for (let n = 0; n < 2 * SILENT; n += 1) await happenIn(`ws_silent_${n % SILENT}`);
    await eventually(() => held.length >= 90);
    await happenIn('ws_prompt');
    await eventually(() => prompt.received.length === 2);
    // Those that have been silent for a second leave their slots to those that wait.
    await eventually(() => held.length === SILENT);
    expect(receiver.open).toBe(SILENT);
    // Slow ones get the slots that answers free.
    receiver.answer = ok;
    for (const answer of held) answer();
    await eventually(() => receiver.received.length === 2 * SILENT);
    await prompt.stop();
  });
});
