import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { monthOf } from '#billing/domain/calendar.js';
import type { CreditsEventOf } from '#billing/contracts/events.js';
import { collect } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { peakMiB } from '../bench/service/process-memory.js';
import { sharedStack, startApi, type StartedProcess, type Stack } from '../support/index.js';
import { Integrator } from '../support/integrator.js';
import { longestWait } from '../support/longest-wait.js';
import { PortalVisitor } from '../support/portal-visitor.js';

const READINGS = 30_000;
const READINGS_AT_ONCE = 500;
/** What a neighbour may wait for a statement of somebody else, or ten times what it waits when nobody else asks. */
const LONGEST_WAIT_MS = 250;
const TIMES_AT_REST = 10;
/** What a statement may add to the memory of an API: the collector lets some garbage stand. */
const MOST_MIB = 48;

let stack: Stack;
let api: StartedProcess;
let neighbour: Integrator;
let visitor: PortalVisitor;
let month: string;
let mayWaitMs: number;

/** Writes a month's worth of readings into a book, as the service would, without their chain. */
const fillBook = async (workspaceId: string): Promise<void> => {
  const store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    appendTimeoutMs: 60_000,
    readTimeoutMs: 60_000,
  });
  const stream = `credits-${workspaceId}`;
  const before = await collect(store.read(stream));
  const { revision, metadata: last } = before.at(-1)!;
  const metadata = { ...last, schemaVersion: 1 };
  const gift = before.find(({ type }) => type === 'CreditsAdjusted')!;
  const [{ grantId } = { grantId: '' }] = (gift.data as CreditsEventOf<'CreditsAdjusted'>['data'])
    .allocations;
  let at = revision;
  for (let n = 0; n < READINGS; n += READINGS_AT_ONCE) {
    const events = Array.from({ length: READINGS_AT_ONCE }, () => {
      const own = { reservationId: randomUUID(), readingId: randomUUID(), amount: 20 };
      return [
        {
          id: randomUUID(),
          type: 'CreditsReserved',
          data: { ...own, allocations: [{ grantId, amount: 20 }] },
          metadata,
        },
        { id: randomUUID(), type: 'CreditsCaptured', data: { ...own, causeEventId: randomUUID() }, metadata },
      ];
    }).flat();
    ({ revision: at } = await store.append(stream, at, events));
  }
  await store.close();
};

beforeAll(async () => {
  stack = await sharedStack();
  api = await startApi(stack, { NODE_OPTIONS: '--max-old-space-size=512' });
  neighbour = (await Integrator.open(stack, 0)).at(stack, api.baseUrl);
  const { workspaceId } = await Integrator.open(stack, READINGS * 20);
  month = monthOf(Date.now());
  await fillBook(workspaceId);
  visitor = await PortalVisitor.signedIn({ ...stack, baseUrl: api.baseUrl }, workspaceId);
  // The page of the month folds the book, as every order does.
  const page = await visitor.get(`/portal/credits/statements/${month}`);
  if (page.status !== 200) throw new Error(page.text);
  const atRest = await longestWait(api, neighbour, new Promise((resolve) => setTimeout(resolve, 2_000)));
  mayWaitMs = Math.max(LONGEST_WAIT_MS, TIMES_AT_REST * atRest);
});

afterAll(async () => {
  await api?.stop();
  await stack?.stop();
});

it('The PDF of a busy month is refused before it costs anything, and the answer names the CSV', async () => {
  const before = peakMiB(api.pid);
  const print = visitor.get(`/portal/credits/statements/${month}/pdf`);
  const wait = await longestWait(api, neighbour, print);
  const { status, text } = await print;
  expect(status).toBe(422);
  expect(text).toContain('CSV');
  expect(wait).toBeLessThanOrEqual(mayWaitMs);
  expect(peakMiB(api.pid) - before).toBeLessThanOrEqual(MOST_MIB);
});

it('The CSV of a busy month keeps nobody waiting, and takes no more memory than a part of it', async () => {
  const before = peakMiB(api.pid);
  const download = visitor.get(`/portal/credits/statements/${month}/csv`);
  const wait = await longestWait(api, neighbour, download);
  const { status, text } = await download;
  expect([status, text.trimEnd().split('\n').length]).toEqual([200, 2 * READINGS + 3]);
  expect(wait).toBeLessThanOrEqual(mayWaitMs);
  expect(peakMiB(api.pid) - before).toBeLessThanOrEqual(MOST_MIB);
});
