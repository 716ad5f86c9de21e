import {
  type Decider,
  accept,
  assertNever,
  type Decision,
  ignore,
  reject,
  type Rejection,
} from '#event-sourcing/core/decider.js';
import type { PublicationEvent } from '../contracts/index.js';

export type DataOf<T extends PublicationEvent['type']> = Extract<PublicationEvent, { type: T }>['data'];

export type PublicationCommand =
  /** Fixes the artifact id and the instant of a version, so that every retry renders the same bytes. */
  | { readonly type: 'RequestPublication'; readonly publication: DataOf<'PublicationRequested'> }
  /**
   * The same for the version after the newest one, from the current texts, in the mode of the versions before.
   * `most`: how many versions a reading may have. `unlessFrom`: no version is made when the newest one is already from
   * this version of the texts; `null`: it is made in any case.
   */
  | {
      readonly type: 'RequestNextVersion';
      readonly publication: Omit<DataOf<'PublicationRequested'>, 'livemode'>;
      readonly most: number;
      readonly unlessFrom: string | null;
    }
  | {
      readonly type: 'RecordPublished';
      readonly version: number;
      readonly formats: DataOf<'DocumentPublished'>['formats'];
      readonly contentVersion: string;
    }
  /** Records that the version can never be published: its result can no longer be read. */
  | {
      readonly type: 'FailPublication';
      readonly workspaceId: string;
      readonly version: number;
      readonly code: string;
    }
  /** Precedes the erasure of the reading: after it nothing is published, not even by a running job. */
  | { readonly type: 'WithdrawPublication'; readonly workspaceId: string };

export type PublicationRejection =
  | Rejection<'NotRequested', { version: number }>
  | Rejection<'Withdrawn', null>
  /** A version failed for good: nothing more can be made of the reading. */
  | Rejection<'Unreadable', null>
  | Rejection<'TooManyVersions', { most: number }>;

/** Of every completed reading. Later versions are requested (RepublishDocument). */
export const FIRST_VERSION = 1;

/** What was published, and on which paper. */
export type PublishedVersion = DataOf<'DocumentPublished'> & Pick<DataOf<'PublicationRequested'>, 'paper'>;

export interface Publication {
  /** Publications requested and not yet published, by version. */
  readonly pending: ReadonlyMap<number, DataOf<'PublicationRequested'>>;
  readonly published: ReadonlyMap<number, PublishedVersion>;
  readonly failed: ReadonlySet<number>;
  readonly withdrawn: boolean;
}

/** The newest published version; 0 before the first. */
export const newestVersion = ({ published }: Pick<Publication, 'published'>): number =>
  Math.max(0, ...published.keys());

/** The version that is being made; `null` when there is none. At most one is. */
export const pendingVersion = ({ pending }: Pick<Publication, 'pending'>): number | null => {
  const [version] = pending.keys();
  return version ?? null;
};

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
    case 'RequestNextVersion':
      return requestNext(command, state);
    case 'RecordPublished': {
      if (state.published.has(command.version)) return ignore('AlreadyPublished');
      if (state.withdrawn) return reject('Withdrawn', null);
      // A worker that was slow comes after another gave the document up, and its credits are back.
      if (state.failed.has(command.version)) return reject('Unreadable', null);
      const pending = state.pending.get(command.version);
      if (!pending) return reject('NotRequested', { version: command.version });
      const { workspaceId, livemode, version, artifactId, publishedAt } = pending;
      return accept({
        type: 'DocumentPublished',
        data: {
          workspaceId,
          livemode,
          version,
          artifactId,
          formats: command.formats,
          publishedAt,
          contentVersion: command.contentVersion,
        },
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

/** While a version is due or being made, it is the next one: it will have the current texts. */
const requestNext = (
  { publication, most, unlessFrom }: Extract<PublicationCommand, { type: 'RequestNextVersion' }>,
  state: Publication,
): Decision<PublicationEvent, PublicationRejection> => {
  if (state.withdrawn) return reject('Withdrawn', null);
  if (state.failed.size > 0) return reject('Unreadable', null);
  const newest = newestVersion(state);
  if (newest === 0) return ignore('FirstIsDue');
  if (state.pending.size > 0) return ignore('AlreadyRequested');
  if (publication.version <= newest) return ignore('AlreadyPublished');
  const { livemode, contentVersion } = state.published.get(newest)!;
  if (unlessFrom !== null && contentVersion === unlessFrom) return ignore('TextsUnchanged');
  if (newest >= most) return reject('TooManyVersions', { most });
  return accept({ type: 'PublicationRequested', data: { ...publication, livemode } });
};

const evolve = (state: Publication, event: PublicationEvent): Publication => {
  switch (event.type) {
    case 'PublicationRequested':
      return { ...state, pending: new Map(state.pending).set(event.data.version, event.data) };
    case 'DocumentPublished': {
      const pending = new Map(state.pending);
      const paper = pending.get(event.data.version)?.paper ?? 'a4';
      pending.delete(event.data.version);
      const published = new Map(state.published).set(event.data.version, { ...event.data, paper });
      return { ...state, pending, published };
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
