import { instant } from '../core/clock.js';
import type { Decider } from '../core/decider.js';
import type { Rejection } from '../core/decision.js';
import type { EventCatalogue, EventOf } from '../core/event-catalogue.js';
import type { EventToAppend, Recorded } from '../core/event.js';
import { ClockUntrusted } from '../core/trusted-clock.js';
import type { ExpectedRevision } from '../store/event-store.js';
import type { Metadata } from './command-context.js';
import { prepareEvent } from './prepare-event.js';
import type { Folded } from './folded.js';

/**
 * Most bytes of one append, with about METADATA_BYTES for each event beside its data. EventStoreDB refuses more than
 * 1 MiB. A decision that is larger by itself is appended alone: the store answers it.
 */
const MOST_BYTES = 1_000_000;
const METADATA_BYTES = 500;

export type Outcome<E, S, R extends Rejection> =
  | {
      readonly kind: 'accepted';
      readonly events: readonly Recorded<E & { type: string; data: unknown }>[];
      readonly state: S;
    }
  | { readonly kind: 'ignored'; readonly reason: string; readonly state: S }
  | ({ readonly kind: 'rejected'; readonly state: S } & R);

/** A command that waits for its stream. */
export interface Waiting<C, E, S, R extends Rejection> {
  readonly command: C;
  readonly intent: string;
  readonly metadata: Metadata;
  /** Decide on the empty stream first: for a new id, reading would find nothing. */
  readonly fresh: boolean;
  readonly resolve: (outcome: Outcome<E, S, R>) => void;
  readonly reject: (error: unknown) => void;
}

interface DecideOptions {
  readonly chained?: boolean;
  readonly datesAscend?: { readonly withinMs: number };
}

interface Decided<S> {
  /** Of the commands from the first on: the others do not fit the append. */
  readonly commands: number;
  readonly events: readonly (EventToAppend & Recorded)[];
  /** Answers the callers, after the append. */
  readonly settle: readonly (() => void)[];
  readonly loaded: Folded<S>;
}

/** Decides commands one after another, each on the state after those before it. Appends nothing. */
export const decideBatch = <C, Cat extends EventCatalogue, S, R extends Rejection>(
  catalogue: Cat,
  decider: Decider<C, EventOf<Cat>, S, R>,
  options: DecideOptions,
  stream: string,
  batch: readonly Waiting<C, EventOf<Cat>, S, R>[],
  from: Folded<S>,
): Decided<S> => {
  let { state, chain, last } = from;
  const events: (EventToAppend & Recorded)[] = [];
  const settle: (() => void)[] = [];
  let bytes = 0;
  for (const [index, asked] of batch.entries()) {
    const { resolve, reject } = asked;
    try {
      const decision = decider.decide(asked.command, state);
      if (decision.kind === 'ignore') {
        const outcome = { kind: 'ignored', reason: decision.reason, state } as const;
        settle.push(() => resolve(outcome));
      } else if (decision.kind === 'reject') {
        const outcome = { ...(decision as unknown as R), kind: 'rejected', state } as const;
        settle.push(() => resolve(outcome));
      } else {
        // Kept apart until the decision is complete: one that fails half way leaves no trace.
        const own: (EventToAppend & Recorded)[] = [];
        let ownBytes = 0;
        const metadata = dated(asked.metadata, last, options);
        let after = { state, chain };
        for (const domainEvent of decision.events) {
          const prepared = prepareEvent(catalogue, domainEvent, {
            stream,
            revision: nextRevision(from.revision, events.length + own.length),
            intent: asked.intent,
            metadata,
            index: own.length,
            previousChain: options.chained ? after.chain : null,
          });
          after = {
            state: decider.evolve(after.state, domainEvent),
            chain: prepared.event.metadata.chain ?? after.chain,
          };
          own.push(prepared.event);
          ownBytes += prepared.bytes + METADATA_BYTES;
        }
        if (events.length > 0 && bytes + ownBytes > MOST_BYTES)
          return { commands: index, events, settle, loaded: { ...from, state, chain, last } };
        bytes += ownBytes;
        ({ state, chain } = after);
        last = { occurredAt: Date.parse(metadata.occurredAt), recordedAt: Infinity };
        events.push(...own);
        const outcome = { kind: 'accepted', events: own as never[], state } as const;
        settle.push(() => resolve(outcome));
      }
    } catch (error) {
      settle.push(() => reject(error));
    }
  }
  return { commands: batch.length, events, settle, loaded: { ...from, state, chain, last } };
};

/**
 * A writer whose clock was ahead dated events later than the store recorded them. Beyond the bound, the record time
 * counts, so that one such writer does not stop the others.
 * @throws ClockUntrusted
 */
const dated = <S>(metadata: Metadata, last: Folded<S>['last'], { datesAscend }: DecideOptions): Metadata => {
  if (!datesAscend || !last) return metadata;
  const lastAt = Math.min(last.occurredAt, last.recordedAt + datesAscend.withinMs);
  const behindMs = lastAt - Date.parse(metadata.occurredAt);
  if (!(behindMs > 0)) return metadata;
  if (behindMs > datesAscend.withinMs)
    throw new ClockUntrusted(`this process is ${behindMs} ms behind the last event of the stream`);
  return { ...metadata, occurredAt: instant(lastAt) };
};

const nextRevision = (last: ExpectedRevision, offset: number): bigint =>
  (last === 'no_stream' ? 0n : last + 1n) + BigInt(offset);
