import type { Rejection } from '#event-sourcing/core/decider.js';
import type { PublicationEvent } from '../../contracts/events.js';

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
