import { creditsEvents, testBookEvents, type CreditsEvent } from '#billing/contracts/index.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { publicationEvents, type PublicationEvent } from '#publishing/contracts/index.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import { rowsOf, type Row } from './postgres.js';
import type { World } from './world.js';

/** Reports a breach, in one sentence. */
export type Report = (breach: string) => void;
type ByStream<E extends Recorded> = ReadonlyMap<string, readonly E[]>;

/** The decoded events of each stream, by the id of the stream, and the tables. */
export interface History {
  readonly readings: ByStream<Recorded<ReadingEvent>>;
  readonly publications: ByStream<Recorded<PublicationEvent>>;
  readonly books: ByStream<Recorded<CreditsEvent>>;
  readonly testBooks: ByStream<Recorded<CreditsEvent>>;
  /** The rows of a table, as JSON values. */
  readonly rows: (table: string) => readonly Row[];
}

export const historyOf = async ({ store, postgres }: World): Promise<History> => {
  const contents = await postgres.copy();
  const readings = new Map<string, Recorded<ReadingEvent>[]>();
  const publications = new Map<string, Recorded<PublicationEvent>[]>();
  const books = new Map<string, Recorded<CreditsEvent>[]>();
  const testBooks = new Map<string, Recorded<CreditsEvent>[]>();
  const add = <E>(to: Map<string, E[]>, id: string, event: E) => to.set(id, [...(to.get(id) ?? []), event]);
  for (const stored of store.log) {
    const id = streamId(stored.stream);
    switch (categoryOf(stored.stream)) {
      case readingEvents.category:
        add(readings, id, decode(readingEvents, stored));
        break;
      case publicationEvents.category:
        add(publications, id, decode(publicationEvents, stored));
        break;
      case creditsEvents.category:
        add(books, id, decode(creditsEvents, stored));
        break;
      case testBookEvents.category:
        add(testBooks, id, decode(testBookEvents, stored));
        break;
      default:
    }
  }
  return { readings, publications, books, testBooks, rows: (table) => rowsOf(contents, table) };
};

/** How many events have one of the types. */
export const count = (events: readonly Recorded[], ...types: readonly string[]): number =>
  events.filter(({ type }) => types.includes(type)).length;
