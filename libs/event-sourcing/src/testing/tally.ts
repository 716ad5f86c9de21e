import { z } from 'zod';
import { type Decider, accept, ignore, reject, type Rejection } from '../core/decider.js';
import { event, eventCatalogue, type EventOf } from '../core/event-catalogue.js';
import type { EventToAppend, Recorded } from '../core/event.js';
import { view } from '../projections/view.js';
import { requestedBy } from '../core/request-context.js';
import type { CommandContext } from '../commands/command-executor.js';

/** The smallest stream with every kind of decision: a sum that must not fall below zero. For the kernel's specs. */
export const tallyEvents = eventCatalogue('tally', {
  Added: event(1, z.object({ by: z.int(), ref: z.string() })),
  /** Contains the whole state, as a closed period does. */
  Carried: event(1, z.object({ total: z.int(), refs: z.array(z.string()) })),
});

export type TallyEvent = EventOf<typeof tallyEvents>;

export interface Tally {
  readonly total: number;
  readonly refs: readonly string[];
}

export type TallyCommand =
  | { readonly type: 'add'; readonly by: number; readonly ref: string }
  /** Several events from one decision. */
  | { readonly type: 'addEach'; readonly amounts: readonly number[]; readonly ref: string }
  | { readonly type: 'carry' }
  /** A bug in the decider. */
  | { readonly type: 'explode' };

export type TallyRejection = Rejection<'TooLow', { readonly total: number }>;

const decide: Decider<TallyCommand, TallyEvent, Tally, TallyRejection>['decide'] = (command, state) => {
  switch (command.type) {
    case 'add':
      if (state.refs.includes(command.ref)) return ignore('AlreadyAdded');
      if (state.total + command.by < 0) return reject('TooLow', { total: state.total });
      return accept(added(command.by, command.ref));
    case 'addEach':
      return accept(...command.amounts.map((by, index) => added(by, `${command.ref}.${index}`)));
    case 'carry':
      return accept({ type: 'Carried', data: { total: state.total, refs: [...state.refs] } } as const);
    case 'explode':
      throw new RangeError('A bug in the decider');
  }
};

export const tally: Decider<TallyCommand, TallyEvent, Tally, TallyRejection> = {
  initialState: { total: 0, refs: [] },
  decide,
  evolve: (state, { type, data }) =>
    type === 'Carried' ? data : { total: state.total + data.by, refs: [...state.refs, data.ref] },
};

export const added = (by: number, ref: string) => ({ type: 'Added', data: { by, ref } }) as const;

export const AT = '2026-01-02T03:04:05.006Z';

/** A command's context; `at` is RFC 3339. */
export const contextOf = (intent: string, at = AT): CommandContext => ({
  intent,
  by: requestedBy('system:spec', 'req_1'),
  workspaceId: 'ws_1',
  at: Date.parse(at),
});

/** What an event records of that context. */
export const METADATA = {
  correlationId: 'req_1',
  causationId: 'req_1',
  workspaceId: 'ws_1',
  actor: 'system:spec',
  occurredAt: AT,
  schemaVersion: 1,
};

/** An `Added` event ready to append. Its id need not be a UUID. */
export const addedToAppend = (id: string, ref: string, by = 1): EventToAppend => ({
  id,
  ...added(by, ref),
  metadata: METADATA,
});

interface TotalRow {
  readonly stream: string;
  readonly sum: number;
  readonly revision: string;
}

/** View of `create table total (stream text primary key, sum integer not null, revision numeric not null)`. */
export const totalView = view<TotalRow, Recorded<TallyEvent>>({
  table: 'public.total',
  key: ['stream'],
  keyOf: ({ stream }) => ({ stream }),
  evolve(row, { stream, revision, type, data }) {
    if (type !== 'Added' || (row && BigInt(row.revision) >= revision)) return row;
    return { stream, sum: (row?.sum ?? 0) + data.by, revision: String(revision) };
  },
});
