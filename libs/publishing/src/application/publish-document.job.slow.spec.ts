import { beforeEach, describe, expect, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { DroppingEventStore } from '#event-sourcing/testing/dropping-event-store.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { GetReadingResult, type ReadingSummary } from '#readings/contracts/index.js';
import { GetPaper } from '#workspaces/contracts/index.js';
import type { PublicationCommand } from '../domain/publication.decider.js';
import { camille, resultOf } from '../document/testing/people.js';
import { createPublicationExecutor, type PublicationExecutor } from './publications.js';
import { PublishDocumentJob } from './publish-document.job.js';

const job = { readingId: '7f9c', workspaceId: 'ws_1', correlationId: 'c', causationId: 'e' };

let store: DroppingEventStore;
let executor: PublicationExecutor;
let discarded: string[];
let reading: Pick<ReadingSummary, 'status' | 'erasedAt'> | null;

beforeEach(() => {
  store = new DroppingEventStore();
  executor = createPublicationExecutor(store);
  discarded = [];
});

/** Runs the job for a reading whose result cannot be decrypted. */
const run = (worker = executor): Promise<void> => {
  const queries = { execute: async (query: object) => (query instanceof GetReadingResult ? null : reading) };
  const artifacts = { discard: async (id: string) => void discarded.push(id) };
  const log = { debug: () => undefined, warn: () => undefined };
  return new PublishDocumentJob(
    worker,
    {} as never,
    { now: () => 0 },
    log as never,
    queries as never,
    artifacts as never,
    {} as never,
  ).run(job);
};
const recorded = async (): Promise<string[]> => {
  const types: string[] = [];
  for await (const { type } of store.read('publication-7f9c')) types.push(type);
  return types;
};

describe('PublishDocumentJob, for a reading whose result cannot be decrypted', () => {
  it('records a failure once the reading is completed: its key is permanently gone', async () => {
    reading = { status: 'completed', erasedAt: null };
    await run();
    await run();
    expect(await recorded()).toEqual(['PublicationFailed']);
    expect(discarded).toContain('7f9c');
  });

  it('records it once when two workers run the job at the same moment', async () => {
    reading = { status: 'completed', erasedAt: null };
    await Promise.all([run(createPublicationExecutor(store)), run(createPublicationExecutor(store))]);
    expect(await recorded()).toEqual(['PublicationFailed']);
    expect(store.dropped).toBe(1);
  });

  it('retries while the reading is not known to be completed', async () => {
    for (const one of [null, { status: 'processing', erasedAt: null } as const]) {
      reading = one;
      await expect(run()).rejects.toThrow(/cannot be read yet/);
    }
    expect(await recorded()).toEqual([]);
  });

  it('records nothing for a reading that is being erased', async () => {
    await executor.execute(
      '7f9c',
      { type: 'WithdrawPublication', workspaceId: 'ws_1' },
      {
        intent: 'withdraw',
        by: requestedBy('apiKey:k', 'c'),
        workspaceId: 'ws_1',
        at: Date.parse('2026-11-22T12:00:00.000Z'),
      },
    );
    reading = { status: 'completed', erasedAt: null };
    await run();
    expect(await recorded()).toEqual(['PublicationWithdrawn']);
    expect(discarded).toEqual(['7f9c']);
  });

  it('records the failure of the later version that was requested, and keeps the first', async () => {
    const publication = {
      workspaceId: 'ws_1',
      livemode: true,
      version: 1,
      artifactId: 'art_1',
      publishedAt: 'then',
      paper: 'by-locale' as const,
    };
    const commands: PublicationCommand[] = [
      { type: 'RequestPublication', publication },
      { type: 'RecordPublished', version: 1, formats: [], contentVersion: '2026.11.5' },
      { type: 'RequestNextVersion', publication: { ...publication, version: 2 }, most: 2, unlessFrom: null },
    ];
    for (const command of commands)
      await executor.execute('7f9c', command, {
        intent: command.type,
        by: requestedBy('apiKey:k', 'c'),
        workspaceId: 'ws_1',
        at: Date.parse('2026-11-22T12:00:00.000Z'),
      });
    reading = { status: 'completed', erasedAt: null };
    await run();
    const { state } = await executor.load('7f9c');
    expect([...state.failed]).toEqual([2]);
    expect(discarded).toEqual([]);
  });
});

it('publishes a test reading no earlier than it asked', async () => {
  const due = '2026-11-22T12:00:07.000Z';
  const answers = { GetReadingResult: { livemode: false }, GetPublicationTime: due };
  const queries = {
    execute: async (query: object) => answers[query.constructor.name as keyof typeof answers],
  };
  const at = Date.parse(due) - 2_000;
  const unused = {} as never;
  const one = new PublishDocumentJob(
    executor,
    unused,
    { now: () => at },
    unused,
    queries as never,
    unused,
    unused,
  );
  await expect(one.run(job)).rejects.toMatchObject(new NotDueYet(2_000));
  expect(await recorded()).toEqual([]);
});

it('lays a document out for the paper that its workspace chose before it was requested', async () => {
  const at = Date.parse('2026-11-22T12:00:00.000Z');
  let chosen = 'us-letter';
  const bytes = Buffer.from(JSON.stringify(resultOf(camille, 'fr-FR', 'feminine')));
  const queries = {
    execute: async (query: object) =>
      query instanceof GetPaper ? chosen : { livemode: true, workspaceId: 'ws_1', bytes },
  };
  const papers: unknown[] = [];
  const pdf = { render: async (_: unknown, paper: unknown) => (papers.push(paper), Buffer.from('%PDF')) };
  const artifacts = { put: async () => null };
  const one = new PublishDocumentJob(
    executor,
    pdf as never,
    { now: () => at },
    {} as never,
    queries as never,
    artifacts as never,
    {} as never,
  );
  // The artifacts are not stored, so the job fails and is tried again: with the paper of its request.
  await expect(one.run(job)).rejects.toThrow();
  chosen = 'a4';
  await expect(one.run(job)).rejects.toThrow();
  expect(papers).toEqual(['us-letter', 'us-letter']);
});

it('puts off a document that cannot be made, the longer the older its request is, and quotes no text of it', async () => {
  const requestedAt = Date.parse('2026-11-22T12:00:00.000Z');
  let now = requestedAt;
  const bytes = Buffer.from(JSON.stringify(resultOf(camille, 'fr-FR', 'feminine')));
  const queries = {
    execute: async (query: object) =>
      query instanceof GetPaper ? 'by-locale' : { livemode: true, workspaceId: 'ws_1', bytes },
  };
  const pdf = {
    render: async () => {
      throw new RangeError('the text "Camille Marie" does not fit');
    },
  };
  const said: { readonly reason: string }[] = [];
  const one = new PublishDocumentJob(
    executor,
    pdf as never,
    { now: () => now },
    { error: (details: { reason: string }) => void said.push(details) } as never,
    queries as never,
    {} as never,
    {} as never,
  );
  for (const [ageMs, pauseMs] of [
    [0, 5_000],
    [600_000, 60_000],
    [86_400_000, 3_600_000],
  ] as const) {
    now = requestedAt + ageMs;
    await expect(one.run(job)).rejects.toMatchObject(new NotDueYet(pauseMs));
  }
  expect(said.map(({ reason }) => reason)).toEqual(Array(3).fill('RangeError: the text … does not fit'));
});
