import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { BatchEvent } from '#readings/contracts/index.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import { API_VERSION } from '../delivery/public-event.js';
import type { Finding } from './finding.js';

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
