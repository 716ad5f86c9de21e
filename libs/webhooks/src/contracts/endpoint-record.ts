import type { Mode } from '#event-sourcing/core/mode.js';
import type { DisabledReason } from './events.js';
import type { PublicEventType } from './event-types.js';
import type { NoticeType } from './notice-types.js';

/** An endpoint as callers see it. Instants are RFC 3339 UTC with milliseconds. */
export interface WebhookEndpointRecord {
  /** `we_` and a version 4 UUID. */
  readonly endpointId: string;
  readonly url: string;
  readonly events: readonly PublicEventType[];
  /** The modes of the readings whose events it receives. */
  readonly modes: readonly Mode[];
  /** The notices that it receives, of the same modes. */
  readonly notices: readonly NoticeType[];
  readonly enabled: boolean;
  readonly description: string | null;
  /** Names of the custom headers of its deliveries, in lower case. Their values are never shown. */
  readonly headerNames: readonly string[];
  /** Deliveries sent in a second, at most; `null`: no limit of its own. */
  readonly maxPerSecond: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly health: {
    /** `unverified`: its deliveries wait until it has answered a probe. */
    readonly state: 'ok' | 'failing' | 'disabled' | 'unverified';
    readonly failingSince: string | null;
    readonly disabledReason: DisabledReason | null;
    readonly consecutiveFailures: number;
  };
  /** The newest secret's last four characters, to identify it. */
  readonly secretHint: string;
}
