import { beforeEach, describe, expect, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { Digester } from '#platform/crypto/digest.js';
import { RequestBatch } from './request-batch.command.js';
import { RequestBatchHandler } from './request-batch.handler.js';

/** More readings than are worked on at once. */
const MANY = 200;
const turns = async (): Promise<void> => {
  for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
};

/** The readings looked up so far, each as the name of its request; and what lets the look-ups end. */
let lookedUp: string[];
let release: () => void;
let released: Promise<void>;

beforeEach(() => {
  lookedUp = [];
  released = new Promise((resolve) => (release = resolve));
});

/** Every batch is recorded already, and all its readings are accepted. */
const handlerOf = (timeoutMs = 60_000): RequestBatchHandler => {
  const recorded = { items: MANY, mode: 'all', refused: [], invalid: [] };
  const answered = async (_: string, { name }: { name: string }) => {
    lookedUp.push(name);
    await released;
    return { outcome: 'replayed' };
  };
  return new RequestBatchHandler(
    { load: async () => ({ state: recorded }) } as never,
    { now: () => 0 },
    {} as never,
    {} as never,
    new Digester(Buffer.alloc(32, 7).toString('base64')),
    {} as never,
    { answered } as never,
    timeoutMs,
  );
};

const repeat = (name: string, workspaceId = 'ws_1', departed: AbortSignal | null = null): RequestBatch =>
  new RequestBatch(
    workspaceId,
    true,
    'all',
    Array.from({ length: MANY }, () => ({ name }) as never),
    name,
    requestedBy('apiKey:k', 'req_1'),
    departed,
  );

describe('repeated batches', () => {
  it('of one workspace are answered one after another, beside those of others', async () => {
    const handler = handlerOf();
    const all = [
      handler.execute(repeat('first')),
      handler.execute(repeat('second')),
      handler.execute(repeat('of another', 'ws_2')),
    ];
    await turns();
    expect(new Set(lookedUp)).toEqual(new Set(['first', 'of another']));
    release();
    for (const result of await Promise.all(all)) expect(result).toMatchObject({ outcome: 'replayed' });
    expect(lookedUp).toHaveLength(3 * MANY);
  });

  it('that are not answered in time look up nothing further, nor do those that waited', async () => {
    const handler = handlerOf(20);
    const [first, second] = [handler.execute(repeat('first')), handler.execute(repeat('second'))];
    await expect(first).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(second).rejects.toBeInstanceOf(StoreUnavailable);
    const before = lookedUp.length;
    expect(before).toBeLessThan(MANY);
    release();
    await turns();
    expect(lookedUp).toHaveLength(before);
  });

  it('whose caller has gone look up nothing further', async () => {
    const departed = new AbortController();
    const result = handlerOf().execute(repeat('first', 'ws_1', departed.signal));
    await turns();
    const before = lookedUp.length;
    departed.abort(new Error('gone'));
    release();
    await expect(result).rejects.toThrow('gone');
    expect(lookedUp).toHaveLength(before);
  });
});
