import { decodeAny, type EventCatalogue, type RecordedOf } from '../core/event-catalogue.js';
import type { Recorded, StoredEvent } from '../core/event.js';
import type { Consumer } from '../projections/consumer.js';
import type { Statement } from '../projections/statement.js';
import { inSpan } from '../tracing/tracing.js';

/**
 * How a process reacts to an event. A command is executed at least once, so it must be idempotent. SQL, such as adding
 * a job, commits with the checkpoint and so takes effect exactly once.
 */
export type Reaction<Command> =
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'statement'; readonly statement: Statement };

/** A stateless process manager: a pure `react(event)`, made durable by its checkpoint. Never rebuilt. */
export interface ProcessOf<Catalogues extends readonly EventCatalogue[], Command> {
  readonly name: string;
  /** The events it reacts to: whole catalogues, or the types that `selectEvents` picks from one. */
  readonly catalogues: Catalogues;
  /** Use `now` for a process added to a running service, so that it does not react to past events. */
  readonly birth?: 'beginning' | 'now';
  readonly react: (event: RecordedOf<Catalogues>) => readonly Reaction<Command>[];
}

export type Process<Command> = ProcessOf<readonly EventCatalogue[], Command>;

/** Types the events of `react` from the catalogues, then erases the type parameter. */
export const defineProcess = <const Catalogues extends readonly EventCatalogue[], Command>(
  definition: ProcessOf<Catalogues, Command>,
): Process<Command> => definition;

export const command = <C>(value: C): Reaction<C> => ({ kind: 'command', command: value });
export const statement = (value: Statement): Reaction<never> => ({ kind: 'statement', statement: value });

/** Makes the span of a reaction a child of the span that recorded the event. */
const causedBy = ({ type, stream, metadata }: Recorded) => ({
  parent: metadata.traceparent ?? null,
  attributes: { 'event.type': type, 'event_store.stream': stream },
});

/** @param dispatch executes one command; the commands of a batch run concurrently */
export const processConsumer = <C>(
  process: Process<C>,
  dispatch: (command: C) => Promise<unknown>,
): Consumer => {
  const react = (stored: StoredEvent): readonly (Reaction<C> & { readonly event: Recorded })[] => {
    const event = decodeAny(process.catalogues, stored);
    return event ? process.react(event).map((reaction) => ({ ...reaction, event })) : [];
  };
  const known = new WeakMap<StoredEvent, ReturnType<typeof react>>();
  const reactions = (stored: readonly StoredEvent[]): ReturnType<typeof react> =>
    stored.flatMap((one) => {
      const own = known.get(one) ?? react(one);
      known.set(one, own);
      return own;
    });
  return {
    name: process.name,
    categories: process.catalogues.map(({ category }) => category),
    birth: process.birth ?? 'beginning',
    follows(event) {
      try {
        return reactions([event]).length > 0;
      } catch {
        return true;
      }
    },
    async dispatch(events) {
      const commands = reactions(events).flatMap((one) => (one.kind === 'command' ? [one] : []));
      const results = await Promise.allSettled(
        commands.map((one) =>
          inSpan(`process ${process.name}`, causedBy(one.event), () => dispatch(one.command)),
        ),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    },
    steps: (events) => reactions(events).flatMap((one) => (one.kind === 'statement' ? [one.statement] : [])),
  };
};
