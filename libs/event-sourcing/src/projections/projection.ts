import { decodeAny, type EventCatalogue } from '../core/event-catalogue.js';
import type { Recorded } from '../core/event.js';
import type { Consumer } from './consumer.js';
import type { Statement } from './statement.js';

export interface Projection {
  /** Also the name of its checkpoint; ends in a version (`readings.status.v1`). */
  readonly name: string;
  readonly catalogues: readonly EventCatalogue[];
  /** `park` unless the view is about money. */
  readonly onPoison?: 'park' | 'halt';
  /** Pure: one event to the rows it changes. Must give the same rows when an event comes twice. */
  project(event: Recorded): readonly Statement[];
}

export const projectionConsumer = (projection: Projection): Consumer => ({
  name: projection.name,
  categories: projection.catalogues.map(({ category }) => category),
  birth: 'beginning',
  onPoison: projection.onPoison ?? 'park',
  statements: (events) =>
    events.flatMap((stored) => {
      const event = decodeAny(projection.catalogues, stored);
      return event ? projection.project(event) : [];
    }),
});
