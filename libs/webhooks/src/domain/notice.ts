import type { ExpiringGrant, LowBalance } from '#billing/contracts/index.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { BatchEvent } from '#readings/contracts/index.js';
import type { ExpiringKey } from '#workspaces/contracts/index.js';
import { type DisabledReason, type NoticeType, VERIFICATION_NOTICE } from '../contracts/index.js';
import { API_VERSION } from './public-event.js';

/** Something that a workspace should be told, as a scan of the tables found it. */
export interface Finding {
  readonly type: NoticeType;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly subject: string;
  readonly occurrence: string;
  /** Fields of the body beside `data`: what it is about. */
  readonly about: Readonly<Record<string, string>>;
  readonly data: object;
}

interface EndpointFacts {
  readonly endpointId: string;
  readonly workspaceId: string;
  readonly modes: readonly Mode[];
}

/** An endpoint of both modes is a matter of live mode. */
const ofEndpoint = ({ endpointId, workspaceId, modes }: EndpointFacts) => ({
  workspaceId,
  livemode: modes.includes('live'),
  subject: endpointId,
  about: { endpointId },
});
const pathOf = ({ endpointId }: EndpointFacts): string => `/api/v1/webhooks/${endpointId}`;

/** No delivery has arrived since `failingSince` (RFC 3339). */
export const endpointFailing = ({
  failingSince,
  consecutiveFailures,
  ...of
}: EndpointFacts & { readonly failingSince: string; readonly consecutiveFailures: number }): Finding => {
  const links = { endpoint: pathOf(of), health: `${pathOf(of)}/health` };
  const data = { failingSince, consecutiveFailures, links };
  return { type: 'endpoint.failing', ...ofEndpoint(of), occurrence: failingSince, data };
};

/** The service disabled the endpoint at `disabledAt` (RFC 3339). */
export const endpointDisabled = ({
  disabledAt,
  reason,
  ...of
}: EndpointFacts & {
  readonly disabledAt: string;
  readonly reason: Exclude<DisabledReason, 'requested'>;
}): Finding => {
  const data = { disabledAt, reason, links: { endpoint: pathOf(of) } };
  return { type: 'endpoint.disabled', ...ofEndpoint(of), occurrence: disabledAt, data };
};

/** A replay has queued all its events, or was stopped. */
export const replayFinished = ({
  replayId,
  state,
  events,
  finishedAt,
  ...of
}: EndpointFacts & {
  readonly replayId: string;
  readonly state: 'finished' | 'stopped';
  readonly events: number;
  readonly finishedAt: string;
}): Finding => ({
  type: 'replay.finished',
  ...ofEndpoint(of),
  subject: replayId,
  occurrence: 'finished',
  about: { endpointId: of.endpointId, replayId },
  data: { state, events, finishedAt, links: { replay: `${pathOf(of)}/replays/${replayId}` } },
});

const OF_CREDITS = { livemode: true, about: {} };
const CREDITS = { credits: '/api/v1/credits' };

/** Fewer credits are available than `percent` of what was there after the last grant. */
export const creditsLow = ({
  workspaceId,
  toppedUpBy: occurrence,
  available,
  toppedUpTo,
  percent,
}: LowBalance & { readonly percent: number }): Finding => {
  const data = { available, toppedUpTo, percent, links: CREDITS };
  return { type: 'credits.low', workspaceId, ...OF_CREDITS, subject: 'credits', occurrence, data };
};

/** Whether so many credits are a matter for `credits.low`. @param percent 0: never */
export const isLow = (available: number, toppedUpTo: number, percent: number): boolean =>
  available * 100 < toppedUpTo * percent;

/** Credits of a grant expire soon. */
export const creditsExpiring = ({ workspaceId, grantId, remaining, expiresAt }: ExpiringGrant): Finding => {
  const data = { grantId, remaining, expiresAt, links: CREDITS };
  const type = 'credits.expiring';
  return { type, workspaceId, ...OF_CREDITS, subject: grantId, occurrence: expiresAt, data };
};

/** A key stops working soon. Its label stays out: people put names there. */
export const keyExpiring = ({ workspaceId, mode, keyId, expiresAt }: ExpiringKey): Finding => {
  const data = { expiresAt, links: { keys: '/api/v1/keys' } };
  const [type, livemode] = ['key.expiring' as const, mode === 'live'];
  return { type, workspaceId, livemode, subject: keyId, occurrence: expiresAt, about: { keyId }, data };
};

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

type NoticeSource = Recorded<Extract<BatchEvent, { type: 'BatchEnded' }>>;

export const noticeOf = ({ stream, revision, data, metadata }: NoticeSource): Notice => {
  const { workspaceId, livemode, endedAt, items, refused, ...endings } = data;
  const { published, failed, erased, notAccepted } = endings;
  const batchId = streamId(stream);
  const counts = { items, refused, published, failed, erased, notAccepted };
  const links = { batch: `/api/v1/batches/${batchId}` };
  const { occurredAt, traceparent = null, correlationId } = metadata;
  const eventId = `evt_${uuid5(stream, String(revision), 'batch.ended')}`;
  const [about, told] = [{ batchId }, { endedAt, counts, links }];
  const finding = { workspaceId, livemode, subject: batchId, occurrence: 'ended', about, data: told };
  return { ...written({ type: 'batch.ended', ...finding }, eventId, occurredAt), traceparent, correlationId };
};

/** The notice of what a scan has found. @param at RFC 3339: when it was found */
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
  const deliveryId = uuid5('probe-delivery', endpointId, url);
  return { eventId, deliveryId, type, body: JSON.stringify({ ...head, endpointId, data }) };
};
