import type { Mode } from '#event-sourcing/core/mode.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import type { DisabledReason } from '../../contracts/events.js';

/** Settings that an owner may change. An omitted member stays unchanged. */
export interface EndpointChanges {
  readonly url?: string;
  readonly events?: readonly PublicEventType[];
  readonly modes?: readonly Mode[];
  readonly notices?: readonly NoticeType[];
  readonly description?: string | null;
  readonly headersRef?: string | null;
  readonly maxPerSecond?: number | null;
  /** With a URL: whether its host needs no probe. A new URL without it is not verified. */
  readonly verified?: boolean;
  readonly enabled?: boolean;
}

export type WebhookEndpointCommand =
  | {
      readonly type: 'CreateEndpoint';
      readonly workspaceId: string;
      readonly url: string;
      readonly events: readonly PublicEventType[];
      readonly modes: readonly Mode[];
      readonly notices: readonly NoticeType[];
      readonly description: string | null;
      readonly headersRef: string | null;
      readonly maxPerSecond: number | null;
      readonly verified: boolean;
      readonly secretRef: string;
    }
  | {
      readonly type: 'ChangeEndpoint';
      readonly changes: EndpointChanges;
      /** Revisions at which the caller allows the change; `null`: any. */
      readonly ifRevision: readonly bigint[] | null;
    }
  /** `at`: milliseconds since the epoch. */
  | {
      readonly type: 'RotateSecret';
      readonly secretRef: string;
      readonly at: number;
      readonly overlapSeconds: number;
    }
  /** `url`: where the attempt that causes this was sent. */
  | { readonly type: 'DisableEndpoint'; readonly reason: DisabledReason; readonly url: string }
  /** `url`: where the probe was sent. */
  | { readonly type: 'VerifyEndpoint'; readonly url: string }
  | { readonly type: 'DeleteEndpoint'; readonly ifRevision: readonly bigint[] | null };

export type WebhookEndpointRejection =
  | { readonly code: 'EndpointNotFound'; readonly details: null }
  | { readonly code: 'RevisionMismatch'; readonly details: null }
  /** The URL leads to another origin, and the change neither replaces nor removes the custom headers. */
  | { readonly code: 'HeadersRequired'; readonly details: null };
