import type { Decider } from '@app/event-sourcing/core/decider.js';
import {
  accept,
  assertNever,
  ignore,
  reject,
  type Decision,
  type Rejection,
} from '@app/event-sourcing/core/decision.js';
import type { PublicationEvent } from '../../contracts/events.js';

type DataOf<T extends PublicationEvent['type']> = Extract<PublicationEvent, { type: T }>['data'];

export type PublicationCommand =
  /** Fixes artifact id and instant of a version, so that every retry renders the same bytes. */
  | { readonly type: 'RequestPublication'; readonly publication: DataOf<'PublicationRequested'> }
  | {
      readonly type: 'RecordPublished';
      readonly version: number;
      readonly formats: DataOf<'DocumentPublished'>['formats'];
    };

export type PublicationRejection = Rejection<'NotRequested', { version: number }>;

export interface Publication {
  /** Publications asked for and not yet published, by version. */
  readonly pending: ReadonlyMap<number, DataOf<'PublicationRequested'>>;
  readonly published: ReadonlyMap<number, DataOf<'DocumentPublished'>>;
}

const decide = (
  command: PublicationCommand,
  state: Publication,
): Decision<PublicationEvent, PublicationRejection> => {
  switch (command.type) {
    case 'RequestPublication': {
      const { version } = command.publication;
      if (state.published.has(version)) return ignore('AlreadyPublished');
      if (state.pending.has(version)) return ignore('AlreadyRequested');
      return accept({ type: 'PublicationRequested', data: command.publication });
    }
    case 'RecordPublished': {
      if (state.published.has(command.version)) return ignore('AlreadyPublished');
      const pending = state.pending.get(command.version);
      if (!pending) return reject('NotRequested', { version: command.version });
      const { workspaceId, version, artifactId, publishedAt } = pending;
      return accept({
        type: 'DocumentPublished',
        data: { workspaceId, version, artifactId, formats: command.formats, publishedAt },
      });
    }
    default:
      return assertNever(command);
  }
};

const evolve = (state: Publication, event: PublicationEvent): Publication => {
  switch (event.type) {
    case 'PublicationRequested':
      return { ...state, pending: new Map(state.pending).set(event.data.version, event.data) };
    case 'DocumentPublished': {
      const pending = new Map(state.pending);
      pending.delete(event.data.version);
      return { pending, published: new Map(state.published).set(event.data.version, event.data) };
    }
    case 'PublicationFailed':
      return state;
    default:
      return assertNever(event);
  }
};

export const publicationDecider: Decider<
  PublicationCommand,
  PublicationEvent,
  Publication,
  PublicationRejection
> = {
  initialState: { pending: new Map(), published: new Map() },
  decide,
  evolve,
};
