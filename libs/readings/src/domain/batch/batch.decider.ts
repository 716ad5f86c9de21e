import { accept, ignore, type Decision } from '@app/event-sourcing/core/decision.js';
import type { Decider } from '@app/event-sourcing/core/decider.js';
import type { BatchEvent } from '../../contracts/events.js';

export type BatchRecord = BatchEvent['data'];

/** `null`: not requested. */
export type Batch = BatchRecord | null;

export interface RequestBatch {
  readonly type: 'RequestBatch';
  readonly batch: BatchRecord;
}

/** The first request decides which items are refused. A repeated one follows it. */
const decide = ({ batch }: RequestBatch, state: Batch): Decision<BatchEvent, never> =>
  state === null ? accept({ type: 'BatchRequested', data: batch }) : ignore('AlreadyRequested');

export const batchDecider: Decider<RequestBatch, BatchEvent, Batch, never> = {
  initialState: null,
  decide,
  evolve: (_, { data }) => data,
};
