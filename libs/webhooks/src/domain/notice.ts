import type { Mode } from '#event-sourcing/core/mode.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { BatchEvent } from '#readings/contracts/index.js';
import { type DisabledReason, type NoticeType, VERIFICATION_NOTICE } from '../contracts/events.js';
import { API_VERSION } from './public-event.js';

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

/** At most one notice of a type and subject in this time. */
export const NOTICE_PAUSE_MS = 86_400_000;

/** What a workspace is told besides the events of its readings: thin, without personal data. */
export interface Notice {
  /** `evt_` and a UUID, derived from what it is about: the same finding has the same id. */
  readonly eventId: string;
  readonly type: NoticeType;
  readonly workspaceId: string;
  /** What it is about, such as the id of an endpoint. */
  readonly subject: string;
  /** Which time: an occurrence is told once. */
  readonly occurrence: string;
  /** False when it is about test readings, a test key, or an endpoint that receives test events alone. */
  readonly livemode: boolean;
  readonly occurredAt: string;
  /** W3C trace context of the deciding span. */
  readonly traceparent: string | null;
  /** Id of the request that it follows from, for the log; of a finding, its own id. */
  readonly correlationId: string;
  readonly body: string;
}

export type NoticeSource = Recorded<Extract<BatchEvent, { type: 'BatchEnded' }>>;

/** The notice of a recorded event. */
export const noticeOf = ({ stream, revision, data, metadata }: NoticeSource): Notice => {
  const { workspaceId, livemode, endedAt, items, refused, ...endings } = data;
  const { published, failed, erased, notAccepted } = endings;
  const batchId = streamId(stream);
  const counts = { items, refused, published, failed, erased, notAccepted };
  const links = { batch: `/api/v1/batches/${batchId}` };
  const { occurredAt, traceparent = null, correlationId } = metadata;
  const eventId = `evt_${uuid5(stream, String(revision), 'batch.ended')}`;
  return {
    ...written(
      {
        type: 'batch.ended',
        workspaceId,
        livemode,
        subject: batchId,
        occurrence: 'ended',
        about: { batchId },
        data: { endedAt, counts, links },
      },
      eventId,
      occurredAt,
    ),
    traceparent,
    correlationId,
  };
};

/** The notice of what a look has found. @param at RFC 3339: when it was found */
export const noticeOfFinding = (finding: Finding, at: string): Notice => {
  const { type, workspaceId, subject, occurrence } = finding;
  const eventId = `evt_${uuid5('notice', workspaceId, type, subject, occurrence)}`;
  return { ...written(finding, eventId, at), traceparent: null, correlationId: eventId };
};

const written = (
  { type, workspaceId, livemode, subject, occurrence, about, data }: Finding,
  eventId: string,
  occurredAt: string,
): Omit<Notice, 'traceparent' | 'correlationId'> => {
  const head = { id: eventId, type, apiVersion: API_VERSION, createdAt: occurredAt, workspaceId, livemode };
  const body = JSON.stringify({ ...head, ...about, data });
  return { eventId, type, workspaceId, subject, occurrence, livemode, occurredAt, body };
};

/** The request that asks an endpoint whether it expects our webhooks. */
export interface Probe {
  /** The same for every probe of this URL. */
  readonly eventId: string;
  readonly deliveryId: string;
  readonly type: typeof VERIFICATION_NOTICE;
  readonly body: string;
}

interface ProbedEndpoint {
  readonly endpointId: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly livemode: boolean;
  /** RFC 3339: when the endpoint was given this URL. */
  readonly at: string;
}

export const probeOf = ({ endpointId, workspaceId, url, livemode, at }: ProbedEndpoint): Probe => {
  const type = VERIFICATION_NOTICE;
  const eventId = `evt_${uuid5('probe', endpointId, url)}`;
  const head = { id: eventId, type, apiVersion: API_VERSION, createdAt: at, workspaceId, livemode };
  const data = { links: { endpoint: `/api/v1/webhooks/${endpointId}` } };
  return {
    eventId,
    deliveryId: uuid5('probe-delivery', endpointId, url),
    type,
    body: JSON.stringify({ ...head, endpointId, data }),
  };
};
