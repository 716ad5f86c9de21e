import type { Decider } from '@app/event-sourcing/core/decider.js';
import { accept, assertNever, ignore, reject, type Decision } from '@app/event-sourcing/core/decision.js';
import type { PublicationEvent } from '../../contracts/events.js';
import type { DataOf, PublicationCommand, PublicationRejection } from './publication.commands.js';

export interface Publication {
  /** Publications requested and not yet published, by version. */
  readonly pending: ReadonlyMap<number, DataOf<'PublicationRequested'>>;
  readonly published: ReadonlyMap<number, DataOf<'DocumentPublished'>>;
  readonly failed: ReadonlySet<number>;
  readonly withdrawn: boolean;
}

const decide = (
  command: PublicationCommand,
  state: Publication,
): Decision<PublicationEvent, PublicationRejection> => {
  switch (command.type) {
    case 'RequestPublication': {
      const { version } = command.publication;
      if (state.published.has(version)) return ignore('AlreadyPublished');
      if (state.withdrawn) return reject('Withdrawn', null);
      if (state.pending.has(version)) return ignore('AlreadyRequested');
      return accept({ type: 'PublicationRequested', data: command.publication });
    }
    case 'RecordPublished': {
      if (state.published.has(command.version)) return ignore('AlreadyPublished');
      if (state.withdrawn) return reject('Withdrawn', null);
      const pending = state.pending.get(command.version);
      if (!pending) return reject('NotRequested', { version: command.version });
      const { workspaceId, livemode, version, artifactId, publishedAt } = pending;
      return accept({
        type: 'DocumentPublished',
        data: { workspaceId, livemode, version, artifactId, formats: command.formats, publishedAt },
      });
    }
    case 'FailPublication': {
      const { workspaceId, version, code } = command;
      if (state.published.has(version)) return ignore('AlreadyPublished');
      if (state.failed.has(version)) return ignore('AlreadyFailed');
      if (state.withdrawn) return reject('Withdrawn', null);
      return accept({ type: 'PublicationFailed', data: { workspaceId, version, code } });
    }
    case 'WithdrawPublication':
      return state.withdrawn
        ? ignore('AlreadyWithdrawn')
        : accept({ type: 'PublicationWithdrawn', data: { workspaceId: command.workspaceId } });
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
      return { ...state, pending, published: new Map(state.published).set(event.data.version, event.data) };
    }
    case 'PublicationFailed':
      return { ...state, failed: new Set(state.failed).add(event.data.version) };
    case 'PublicationWithdrawn':
      return { ...state, withdrawn: true };
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
  initialState: { pending: new Map(), published: new Map(), failed: new Set(), withdrawn: false },
  decide,
  evolve,
};
