import { beforeEach, describe, expect, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { DroppingEventStore } from '#event-sourcing/testing/dropping-event-store.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { TypesettingHung } from '#platform/typesetting/typesetting-pool.js';
import { GetPublicationTime, GetReadingResult, GetReadingSummary } from '#readings/contracts/index.js';
import { GetPaper } from '#workspaces/contracts/index.js';
import type { PublicationCommand } from '../domain/publication.decider.js';
import { camille, resultOf } from '../document/testing/people.js';
import { createPublicationExecutor, type PublicationExecutor } from './publications.js';
import { PublishDocumentJob, type RenderAttempts } from './publish-document.job.js';

const job = { readingId: '7f9c', workspaceId: 'ws_1', correlationId: 'c', causationId: 'e' };
const NOON = Date.parse('2026-11-22T12:00:00.000Z');
const bytes = Buffer.from(JSON.stringify(resultOf(camille, 'fr-FR', 'feminine')));

type Render = (document: unknown, paper: unknown, begin: () => Promise<void>) => Promise<Buffer>;

let store: DroppingEventStore;
let executor: PublicationExecutor;
let discarded: string[];
let said: { readonly reason?: string }[];
let begun: number;
/** What the modules beside it answer. */
let known: {
  result: { readonly livemode: boolean } | null;
  reading: { readonly status: string; readonly erasedAt: string | null } | null;
  paper: string;
  due: string | null;
};

beforeEach(() => {
  store = new DroppingEventStore();
  executor = createPublicationExecutor(store);
  [discarded, said, begun] = [[], [], 0];
  known = {
    result: { livemode: true },
    reading: { status: 'completed', erasedAt: null },
    paper: 'a4',
    due: null,
  };
});

/** Runs the job on a worker. @param stored what is stored of its artifacts; `null`: they are not */
const run = (
  render: Render,
  { now = NOON, worker = executor, stored = null as object | null } = {},
): Promise<void> => {
  const queries = {
    execute: async (query: object) => {
      if (query instanceof GetReadingResult)
        return known.result && { ...known.result, workspaceId: 'ws_1', bytes };
      if (query instanceof GetReadingSummary) return known.reading;
      if (query instanceof GetPublicationTime) return known.due;
      return query instanceof GetPaper ? known.paper : undefined;
    },
  };
  const artifacts = { put: async () => stored, discard: async (id: string) => void discarded.push(id) };
  const note = (details: { reason?: string }) => void said.push(details);
  const attempts = {
    begin: async () => (begun += 1),
    end: async () => void (begun = 0),
  } as unknown as RenderAttempts;
  const log = { info: note, warn: note, error: note };
  const pdf = { render, close: async () => undefined };
  return new PublishDocumentJob(
    worker,
    pdf,
    { now: () => now },
    log as never,
    queries as never,
    artifacts as never,
    attempts,
  ).run(job);
};
const never: Render = async () => {
  throw new Error('it is not rendered');
};
const recorded = async (): Promise<string[]> => {
  const types: string[] = [];
  for await (const { type } of store.read('publication-7f9c')) types.push(type);
  return types;
};
const execute = (command: PublicationCommand) => {
  const by = requestedBy('apiKey:k', 'c');
  return executor.execute('7f9c', command, { intent: command.type, by, workspaceId: 'ws_1', at: NOON });
};

/** The first version is published, and the next one requested. */
const requestTwo = async (): Promise<void> => {
  const publication = {
    workspaceId: 'ws_1',
    livemode: true,
    version: 1,
    artifactId: 'art_1',
    publishedAt: 'then',
    paper: 'a4' as const,
  };
  await execute({ type: 'RequestPublication', publication });
  await execute({ type: 'RecordPublished', version: 1, formats: [], contentVersion: '2026.11.5' });
  await execute({
    type: 'RequestNextVersion',
    publication: { ...publication, version: 2 },
    most: 2,
    unlessFrom: null,
  });
};

describe('A reading whose result cannot be decrypted', () => {
  beforeEach(() => {
    known.result = null;
  });

  it('fails once it is completed, also when two workers see it at once: its key is gone', async () => {
    await run(never);
    await run(never);
    expect([await recorded(), discarded[0]]).toEqual([['PublicationFailed'], '7f9c']);
    store = new DroppingEventStore();
    const workers = [createPublicationExecutor(store), createPublicationExecutor(store)];
    await Promise.all(workers.map((worker) => run(never, { worker })));
    expect([await recorded(), store.dropped]).toEqual([['PublicationFailed'], 1]);
  });

  it.each([null, { status: 'processing', erasedAt: null }])(
    'is tried again while it is %j',
    async (reading) => {
      known.reading = reading;
      await expect(run(never)).rejects.toThrow(/cannot be read yet/);
      expect(await recorded()).toEqual([]);
    },
  );

  it('leaves no failure while it is erased', async () => {
    await execute({ type: 'WithdrawPublication', workspaceId: 'ws_1' });
    await run(never);
    expect([await recorded(), discarded]).toEqual([['PublicationWithdrawn'], ['7f9c']]);
  });

  it('fails in the later version that was requested, and keeps the first', async () => {
    await requestTwo();
    await run(never);
    expect([[...(await executor.load('7f9c')).state.failed], discarded]).toEqual([[2], []]);
  });
});

it('A version that another worker has given up meanwhile is not published, and the first one stays', async () => {
  await requestTwo();
  const given = {
    type: 'FailPublication',
    workspaceId: 'ws_1',
    version: 2,
    code: 'generation_failed',
  } as const;
  const render: Render = async () => (await execute(given), Buffer.from('%PDF'));
  await run(render, { stored: { formats: [], contentVersion: 'texts' } });
  expect([[...(await executor.load('7f9c')).state.published.keys()], discarded]).toEqual([[1], []]);
});

it('A test reading is published no earlier than it asked', async () => {
  known.result = { livemode: false };
  known.due = '2026-11-22T12:00:07.000Z';
  await expect(run(never, { now: NOON + 5_000 })).rejects.toMatchObject(new NotDueYet(2_000));
  expect(await recorded()).toEqual([]);
});

it('A document is laid out for the paper that its workspace chose before it was requested', async () => {
  const papers: unknown[] = [];
  const render: Render = async (_, paper) => (papers.push(paper), Buffer.from('%PDF'));
  // The artifacts are not stored, so the job fails and is tried again: with the paper of its request.
  known.paper = 'us-letter';
  await expect(run(render)).rejects.toThrow();
  known.paper = 'a4';
  await expect(run(render)).rejects.toThrow();
  expect(papers).toEqual(['us-letter', 'us-letter']);
});

describe('A document', () => {
  let renders = 0;
  const failsWith =
    (error: Error): Render =>
    async (_document, _paper, begin) => {
      await begin();
      renders += 1;
      throw error;
    };
  /** A worker that is killed while it typesets: nothing of it comes after. */
  const killed = () =>
    new Promise<void>((resolve, reject) => {
      run(async (_document, _paper, begin) => {
        await begin();
        renders += 1;
        resolve();
        return new Promise(() => undefined);
      }).then(resolve, reject);
    });
  const failed = async () => [...(await executor.load('7f9c')).state.failed];
  beforeEach(() => {
    renders = 0;
  });

  it('that cannot be made is put off, the longer the older its request is, and no text of it is quoted', async () => {
    const render = failsWith(new RangeError('the text "Camille Marie" does not fit'));
    for (const [ageMs, pauseMs] of [
      [0, 5_000],
      [600_000, 60_000],
      [86_400_000, 3_600_000],
    ] as const)
      await expect(run(render, { now: NOON + ageMs })).rejects.toMatchObject(new NotDueYet(pauseMs));
    expect(said.map(({ reason }) => reason)).toEqual(Array(3).fill('RangeError: the text … does not fit'));
  });

  it('that kills three workers, or hangs in them, is given up and never typeset again', async () => {
    await killed();
    await expect(run(failsWith(new TypesettingHung('no end')))).rejects.toThrow(NotDueYet);
    await killed();
    expect(await failed()).toEqual([]);
    await killed();
    await killed();
    expect([renders, await failed()]).toEqual([3, [1]]);
  });

  it('that cannot be made, or meets a store that is away, uses none of its attempts', async () => {
    for (let time = 0; time < 4; time += 1) {
      await expect(run(failsWith(new RangeError('no')))).rejects.toThrow(NotDueYet);
      await expect(run(failsWith(new StoreUnavailable('away', false)))).rejects.toThrow(StoreUnavailable);
    }
    expect([renders, await failed()]).toEqual([8, []]);
  });
});
