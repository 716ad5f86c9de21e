import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { testBookEvents } from '#billing/contracts/index.js';
import { correction } from '#billing/domain/correction.js';
import { credits } from '#billing/domain/credits.decider.js';
import { orderLine } from '#billing/executors.js';
import { decodeAny } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { publicationDecider } from '#publishing/domain/publication.decider.js';
import { batchDecider } from '#readings/domain/batch.decider.js';
import { readingDecider } from '#readings/domain/reading.decider.js';
import { webhookEndpoint } from '#webhooks/domain/webhook-endpoint.decider.js';
import { workspaceDecider } from '#workspaces/domain/workspace.decider.js';
import { PROJECTIONS } from '../../apps/service/src/projections.js';
import { CATALOGUES } from '../golden/catalogues.js';

interface Folding {
  readonly initialState: unknown;
  readonly evolve: (state: never, event: never) => unknown;
}

const FOLDINGS: Readonly<Record<keyof typeof CATALOGUES | 'testbook', Folding>> = {
  workspace: workspaceDecider,
  reading: readingDecider,
  batch: batchDecider,
  publication: publicationDecider,
  credits,
  testbook: credits,
  orderline: orderLine,
  correction,
  webhookEndpoint,
  // Decisions of operators have no decider: the register reads them.
  setAside: { initialState: null, evolve: () => null },
};

/** The rows of every view after these events, by table and key, as the projections write them. */
export const rowsOf = (log: readonly StoredEvent[]): Record<string, Record<string, unknown>> => {
  const tables: Record<string, Record<string, unknown>> = {};
  for (const { catalogues, views } of PROJECTIONS) {
    for (const view of views) {
      const rows = new Map<string, Record<string, unknown>>();
      for (const stored of log) {
        const event = decodeAny(catalogues, stored);
        const key = event && view.keyOf(event);
        if (!event || !key) continue;
        const id = JSON.stringify(key);
        const row = view.evolve(rows.get(id) ?? null, event);
        if (row === null) rows.delete(id);
        else rows.set(id, row);
      }
      tables[view.table] = Object.fromEntries([...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)));
    }
  }
  return tables;
};

/** The state of every stream after these events, folded by its decider. */
const statesOf = (log: readonly StoredEvent[]): Map<string, unknown> => {
  const states = new Map<string, unknown>();
  for (const stored of log) {
    const decider = FOLDINGS[categoryOf(stored.stream) as keyof typeof FOLDINGS];
    const event = decodeAny([...Object.values(CATALOGUES), testBookEvents], stored) as Recorded;
    const before = states.has(stored.stream) ? states.get(stored.stream) : decider.initialState;
    states.set(stored.stream, decider.evolve(before as never, event as never));
  }
  return states;
};

/** One digest of everything folded from a log. It must not depend on time or place. */
export const digestOf = (log: readonly StoredEvent[]): string =>
  createHash('sha256')
    .update(inspect([rowsOf(log), statesOf(log)], { depth: null, sorted: true, maxArrayLength: null }))
    .digest('hex');
