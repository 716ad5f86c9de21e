import {
  accept,
  assertNever,
  type Decider,
  type Decision,
  ignore,
  reject,
} from '#event-sourcing/core/decider.js';
import type { BatchEvent } from '../contracts/events.js';

export type BatchRecord = Extract<BatchEvent, { type: 'BatchRequested' }>['data'];
type Ended = Extract<BatchEvent, { type: 'BatchEnded' }>['data'];

/** How the accepted readings of a batch ended, each counted once. */
export type BatchEndings = Pick<Ended, 'published' | 'failed' | 'erased' | 'notAccepted'>;

/** `null`: not requested. `endedAt` is `null` until each of its accepted readings has ended. */
export type Batch = (BatchRecord & { readonly endedAt: string | null }) | null;

export type BatchCommand =
  | { readonly type: 'RequestBatch'; readonly batch: BatchRecord }
  /** `at`: RFC 3339. */
  | { readonly type: 'EndBatch'; readonly endings: BatchEndings; readonly at: string };

/** `ReadingsOpen`: some accepted readings have not ended. */
interface BatchRejection {
  readonly code: 'BatchNotFound' | 'ReadingsOpen';
  readonly details: null;
}

const decide = (command: BatchCommand, state: Batch): Decision<BatchEvent, BatchRejection> => {
  switch (command.type) {
    case 'RequestBatch':
      // The first request decides which items are refused. A repeated one follows it.
      return state === null
        ? accept({ type: 'BatchRequested', data: command.batch })
        : ignore('AlreadyRequested');
    case 'EndBatch': {
      if (state === null) return reject('BatchNotFound', null);
      if (state.endedAt !== null) return ignore('AlreadyEnded');
      const { endings, at: endedAt } = command;
      if (openReadings(state, endings) > 0) return reject('ReadingsOpen', null);
      const { workspaceId, livemode, items, refused } = state;
      const about = { workspaceId, livemode, items, refused: refused.length };
      return accept({ type: 'BatchEnded', data: { ...about, ...endings, endedAt } });
    }
    default:
      return assertNever(command);
  }
};

/** Accepted readings that have not ended. */
export const openReadings = (
  { items, refused }: Pick<BatchRecord, 'items' | 'refused'>,
  { published, failed, erased, notAccepted }: BatchEndings,
): number => items - refused.length - published - failed - erased - notAccepted;

const evolve = (state: Batch, event: BatchEvent): Batch => {
  switch (event.type) {
    case 'BatchRequested':
      return { ...event.data, endedAt: null };
    case 'BatchEnded':
      return state && { ...state, endedAt: event.data.endedAt };
    default:
      return assertNever(event);
  }
};

export const batchDecider: Decider<BatchCommand, BatchEvent, Batch, BatchRejection> = {
  initialState: null,
  decide,
  evolve,
};
