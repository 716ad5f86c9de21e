import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { Integrator, person, until, untilHandled } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';

/** Longer than a process caches an opened key. */
const KEYS_FORGOTTEN_MS = 2_500;

let stack: Stack;
let customer: Integrator;
let token: string;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 400);
  const scope = ['token', 'mint', '--workspace', customer.workspaceId, '--scope', 'readings:write'];
  token = ((await stack.ops(scope)) as { token: string }).token;
});

afterAll(async () => {
  await stack?.stop();
});

const get = async (path: string) => {
  const answer = await fetch(`${stack.baseUrl}/api/v1/readings/${path}`, {
    headers: { 'x-api-key': customer.apiKey },
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const erase = (readingId: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
  fetch(`${stack.baseUrl}/api/v1/readings/${readingId}/personal-data`, { method: 'DELETE', headers });

const untilPublished = async (readingId: string): Promise<void> => {
  while (!((await get(readingId)).body['document'] as { available: boolean }).available) await delay(50);
};

const rows = async (text: string, readingId: string): Promise<number> => {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    return (await client.query<{ n: number }>(text, [readingId])).rows[0]?.n ?? -1;
  } finally {
    await client.end();
  }
};

const wholeLog = async (): Promise<StoredEvent[]> => {
  const store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    appendTimeoutMs: 30_000,
    readTimeoutMs: 30_000,
  });
  const log: StoredEvent[] = [];
  for await (const event of store.readAll()) log.push(event);
  await store.close();
  return log;
};

/** Until no document of these readings is being made, and every consumer has handled what came of it. */
const untilAtRest = async (...readingIds: readonly string[]): Promise<void> => {
  const beingMade = `select count(*)::int as n from graphile_worker.jobs where key = 'publishing.publish:' || $1`;
  const isMade = async (readingId: string) => (await rows(beingMade, readingId)) === 0;
  // What consumers handle makes jobs, and what jobs do is handled by consumers.
  await untilHandled(stack);
  await until(
    async () => (await Promise.all(readingIds.map(isMade))).every(Boolean),
    () => 'the documents are made',
  );
  await untilHandled(stack);
};

describe('Erasing the personal data of a reading', () => {
  it('destroys its key: the state shows it, result and document are gone, and the ledger still verifies', async () => {
    const { body } = await customer.create(person());
    await untilPublished(body.readingId);
    expect((await erase(body.readingId)).status).toBe(204);
    expect((await erase(body.readingId)).status).toBe(204);
    await untilAtRest(body.readingId);
    await delay(KEYS_FORGOTTEN_MS);

    const reading = await get(body.readingId);
    const document = { available: false, version: null, artifactId: null, publishedAt: null };
    expect(reading).toMatchObject({ status: 200, body: { status: 'completed', input: null, document } });
    expect(reading.body['erasedAt']).toMatch(/^\d{4}-/);
    for (const path of ['result', 'document?format=pdf']) {
      expect(await get(`${body.readingId}/${path}`)).toMatchObject({
        status: 410,
        body: { code: 'reading_erased' },
      });
    }
    const again = await customer.call('POST', `/api/v1/readings/${body.readingId}/document/republish`);
    expect(again).toMatchObject({ status: 409, body: { code: 'reading_erased', status: 409 } });
    expect(
      await rows('select count(*)::int as n from platform.subject_key where subject_id = $1', body.readingId),
    ).toBe(0);
    expect(
      await rows('select count(*)::int as n from publishing.artifact where reading_id = $1', body.readingId),
    ).toBe(0);
    await stack.ops(['ledger', 'verify', '--workspace', customer.workspaceId]);
  });

  it('leaves nothing stored, offered or announced when it races with completion', async () => {
    const erased: string[] = [];
    for (const afterMs of [0, 10, 30, 60, 100, 150]) {
      const { body } = await customer.create(person());
      const { readingId } = body;
      while ((await get(readingId)).body['status'] !== 'completed') await delay(1);
      await delay(afterMs);
      expect((await erase(readingId)).status).toBe(204);
      erased.push(readingId);
    }
    await untilAtRest(...erased);
    await delay(KEYS_FORGOTTEN_MS);
    const log = await wholeLog();
    for (const readingId of erased) {
      expect((await get(readingId)).body).toMatchObject({
        input: null,
        document: { available: false, version: null, artifactId: null, publishedAt: null },
      });
      expect(
        await rows('select count(*)::int as n from publishing.artifact where reading_id = $1', readingId),
      ).toBe(0);
      expect(
        await rows('select count(*)::int as n from readings.result where reading_id = $1', readingId),
      ).toBe(0);
      const types = log.filter(({ stream }) => stream.endsWith(readingId)).map(({ type }) => type);
      expect(types.slice(types.indexOf('ReadingErased'))).not.toContain('DocumentPublished');
      expect(types.indexOf('PublicationWithdrawn')).toBeLessThan(types.indexOf('ReadingErased'));
      const told = await rows(
        `select count(*)::int as n from webhooks.public_event where reading_id = $1 and type = 'reading.published'`,
        readingId,
      );
      expect(told).toBe(types.filter((type) => type === 'DocumentPublished').length);
      expect(await get(`${readingId}/document?format=pdf`)).toMatchObject({
        status: 410,
        body: { code: 'reading_erased' },
      });
    }
  });

  it('ends an unfinished reading and releases its credits', async () => {
    const before = (await stack.ops(['ledger', 'balance', '--workspace', customer.workspaceId])) as {
      available: number;
    };
    process.kill(stack.pids().worker, 'SIGSTOP');
    const { body } = await customer.create(person());
    expect((await erase(body.readingId)).status).toBe(204);
    process.kill(stack.pids().worker, 'SIGCONT');
    await customer.untilEnded(body.readingId);
    expect((await get(body.readingId)).body).toMatchObject({
      status: 'failed',
      error: { code: 'input_unprocessable' },
      input: null,
    });
    for (;;) {
      const now = (await stack.ops([
        'ledger',
        'balance',
        '--workspace',
        customer.workspaceId,
      ])) as typeof before;
      if (now.available === before.available) break;
      await delay(100);
    }
  });

  it('is refused to API keys, to tokens without the scope, and to other workspaces', async () => {
    const { body } = await customer.create(person());
    expect((await erase(body.readingId, { 'x-api-key': customer.apiKey })).status).toBe(403);
    const other = await Integrator.open(stack, 0);
    for (const [workspace, scope] of [
      [customer.workspaceId, 'credits:read'],
      [other.workspaceId, 'readings:write'],
    ] as const) {
      const minted = await stack.ops(['token', 'mint', '--workspace', workspace, '--scope', scope]);
      const { token: one } = minted as { token: string };
      expect((await erase(body.readingId, { authorization: `Bearer ${one}` })).status).toBe(403);
    }
    expect((await get(body.readingId)).body['erasedAt']).toBeNull();
  });

  it('needs a confirmation from the operator', async () => {
    const { body } = await customer.create(person());
    await customer.untilEnded(body.readingId);
    expect(await stack.ops(['erase', body.readingId])).toMatchObject({
      outcome: 'not_erased',
      status: 'completed',
    });
    expect((await get(body.readingId)).body['erasedAt']).toBeNull();
    expect(await stack.ops(['erase', body.readingId, '--yes'])).toMatchObject({ outcome: 'erased' });
    expect(await stack.ops(['erase', body.readingId, '--yes'])).toMatchObject({ outcome: 'already_erased' });
    await expect(stack.ops(['erase', '00000000-0000-4000-8000-000000000000'])).rejects.toThrow(/no reading/);
  });
});
