import type { Mode } from '#event-sourcing/core/mode.js';
import type { DisabledReason } from '../../contracts/events.js';
import type { NoticeType } from '../../contracts/notice-types.js';

/** Something that a workspace should be told, as a look at the tables found it. */
export interface Finding {
  readonly type: NoticeType;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly subject: string;
  readonly occurrence: string;
  /** Members of the body beside `data`: what it is about. */
  readonly about: Readonly<Record<string, string>>;
  readonly data: object;
}

/** An endpoint of both modes is a matter of live mode. */
const isLive = (modes: readonly Mode[]): boolean => modes.includes('live');

interface EndpointFacts {
  readonly endpointId: string;
  readonly workspaceId: string;
  readonly modes: readonly Mode[];
}

const pathOf = (endpointId: string): string => `/api/v1/webhooks/${endpointId}`;

/** No delivery has arrived since `failingSince` (RFC 3339). */
export const endpointFailing = ({
  endpointId,
  workspaceId,
  modes,
  failingSince,
  consecutiveFailures,
}: EndpointFacts & { readonly failingSince: string; readonly consecutiveFailures: number }): Finding => ({
  type: 'endpoint.failing',
  workspaceId,
  livemode: isLive(modes),
  subject: endpointId,
  occurrence: failingSince,
  about: { endpointId },
  data: {
    failingSince,
    consecutiveFailures,
    links: { endpoint: pathOf(endpointId), health: `${pathOf(endpointId)}/health` },
  },
});

/** The service disabled the endpoint at `disabledAt` (RFC 3339). */
export const endpointDisabled = ({
  endpointId,
  workspaceId,
  modes,
  disabledAt,
  reason,
}: EndpointFacts & {
  readonly disabledAt: string;
  readonly reason: Exclude<DisabledReason, 'requested'>;
}): Finding => ({
  type: 'endpoint.disabled',
  workspaceId,
  livemode: isLive(modes),
  subject: endpointId,
  occurrence: disabledAt,
  about: { endpointId },
  data: { disabledAt, reason, links: { endpoint: pathOf(endpointId) } },
});

/** A replay has queued all its events, or was stopped. */
export const replayFinished = ({
  endpointId,
  workspaceId,
  modes,
  replayId,
  state,
  events,
  finishedAt,
}: EndpointFacts & {
  readonly replayId: string;
  readonly state: 'finished' | 'stopped';
  readonly events: number;
  readonly finishedAt: string;
}): Finding => ({
  type: 'replay.finished',
  workspaceId,
  livemode: isLive(modes),
  subject: replayId,
  occurrence: 'finished',
  about: { endpointId, replayId },
  data: { state, events, finishedAt, links: { replay: `${pathOf(endpointId)}/replays/${replayId}` } },
});

const CREDITS = { credits: '/api/v1/credits' };

/** Fewer credits are available than `percent` of what was there after the last grant. */
export const creditsLow = ({
  workspaceId,
  available,
  toppedUpTo,
  toppedUpBy,
  percent,
}: {
  readonly workspaceId: string;
  readonly available: number;
  readonly toppedUpTo: number;
  readonly toppedUpBy: string;
  readonly percent: number;
}): Finding => ({
  type: 'credits.low',
  workspaceId,
  livemode: true,
  subject: 'credits',
  occurrence: toppedUpBy,
  about: {},
  data: { available, toppedUpTo, percent, links: CREDITS },
});

/** Whether so many credits are a matter for `credits.low`. @param percent 0: never */
export const isLow = (available: number, toppedUpTo: number, percent: number): boolean =>
  available * 100 < toppedUpTo * percent;

/** Credits of a grant expire soon. */
export const creditsExpiring = ({
  workspaceId,
  grantId,
  remaining,
  expiresAt,
}: {
  readonly workspaceId: string;
  readonly grantId: string;
  readonly remaining: number;
  readonly expiresAt: string;
}): Finding => ({
  type: 'credits.expiring',
  workspaceId,
  livemode: true,
  subject: grantId,
  occurrence: expiresAt,
  about: {},
  data: { grantId, remaining, expiresAt, links: CREDITS },
});

/** A key stops working soon. Its label stays out: people put names there. */
export const keyExpiring = ({
  workspaceId,
  mode,
  keyId,
  expiresAt,
}: {
  readonly workspaceId: string;
  readonly mode: Mode;
  readonly keyId: string;
  readonly expiresAt: string;
}): Finding => ({
  type: 'key.expiring',
  workspaceId,
  livemode: mode === 'live',
  subject: keyId,
  occurrence: expiresAt,
  about: { keyId },
  data: { expiresAt, links: { keys: '/api/v1/keys' } },
});
