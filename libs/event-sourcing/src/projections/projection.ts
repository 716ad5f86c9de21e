import { decodeAny, isFollowed, type EventCatalogue, type RecordedOf } from '../core/event-catalogue.js';
import type { Recorded, StoredEvent } from '../core/event.js';
import type { Consumer } from './consumer.js';
import type { Statement } from './statement.js';
import type { View } from './view.js';

/** Tables derived from events alone, so that they can be rebuilt from the log. */
export interface ProjectionOf<Catalogues extends readonly EventCatalogue[]> {
  /** Also the name of its checkpoint; ends in a version (`readings.status.v1`). */
  readonly name: string;
  /** The events it handles: whole catalogues, or the types that `selectEvents` picks from one. */
  readonly catalogues: Catalogues;
  readonly views: readonly View<RecordedOf<Catalogues>>[];
  /** The consumer that maintains these rows with its own, when the projection does not run separately. */
  readonly keptBy?: string;
  /** Changes to tables outside the views. They run before the rows change; a rebuild skips them. */
  readonly effects?: (event: RecordedOf<Catalogues>) => readonly Statement[];
}

export type Projection = ProjectionOf<readonly EventCatalogue[]>;

/** Types the events of views and effects from the catalogues, then erases the type parameter. */
export const defineProjection = <const Catalogues extends readonly EventCatalogue[]>(
  definition: ProjectionOf<Catalogues>,
): Projection => definition;

/** Name of the checkpoint that covers a projection's live rows. */
export const checkpointOf = ({ name, keptBy }: Projection): string => keptBy ?? name;

export const projectionConsumer = (projection: Projection): Consumer => ({
  ...follower(projection, projection.name),
  steps: (events) => {
    const decoded = decodeAll(projection, events);
    if (decoded.length === 0) return [];
    return [
      ...decoded.flatMap((event) => projection.effects?.(event) ?? []),
      ...projection.views.map((view) => ({ view, table: view.table, events: decoded })),
    ];
  },
});

/** The consumer that builds a version of a projection's tables: the same rows in other tables, without effects. */
export const versionConsumer = (projection: Projection, version: number): Consumer => ({
  ...follower(projection, versionName(projection.name, version)),
  reader: checkpointOf(projection),
  steps: (events) => {
    const decoded = decodeAll(projection, events);
    return projection.views.map((view) => ({
      view,
      table: versionName(view.table, version),
      events: decoded,
    }));
  },
});

/** Name of a version's table or checkpoint. */
export const versionName = (name: string, version: number): string => `${name}__v${version}`;

export const categoriesOf = ({ catalogues }: Projection): readonly string[] =>
  catalogues.map(({ category }) => category);

const follower = (projection: Projection, name: string): Omit<Consumer, 'steps'> => ({
  name,
  categories: categoriesOf(projection),
  birth: 'beginning',
  follows: (event) => isFollowed(projection.catalogues, event),
});

const decodeAll = ({ catalogues }: Projection, events: readonly StoredEvent[]): readonly Recorded[] =>
  events.flatMap((stored) => decodeAny(catalogues, stored) ?? []);
