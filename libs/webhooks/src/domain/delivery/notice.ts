import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { BatchEvent } from '@app/readings/contracts/index.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import { API_VERSION } from './public-event.js';

/** What a workspace is told besides the events of its readings: thin, without personal data. */
export interface Notice {
  /** `evt_` and a UUID, derived from the recorded event, as for a public event. */
  readonly eventId: string;
  readonly type: NoticeType;
  readonly workspaceId: string;
  /** False when it is about test readings. */
  readonly livemode: boolean;
  readonly occurredAt: string;
  /** W3C trace context of the deciding span. */
  readonly traceparent: string | null;
  /** Id of the request that it follows from, for the log. */
  readonly correlationId: string;
  readonly body: string;
}

export type NoticeSource = Recorded<Extract<BatchEvent, { type: 'BatchEnded' }>>;

/** The notice of a recorded event. */
export const noticeOf = ({ stream, revision, data, metadata }: NoticeSource): Notice => {
  const type = 'batch.ended';
  const { workspaceId, livemode, endedAt, items, refused, ...endings } = data;
  const { published, failed, erased, notAccepted } = endings;
  const batchId = streamId(stream);
  const eventId = `evt_${uuid5(stream, String(revision), type)}`;
  const { occurredAt } = metadata;
  const about = { id: eventId, type, apiVersion: API_VERSION, createdAt: occurredAt, workspaceId, livemode };
  const counts = { items, refused, published, failed, erased, notAccepted };
  const links = { batch: `/api/v1/batches/${batchId}` };
  return {
    eventId,
    type,
    workspaceId,
    livemode,
    occurredAt,
    traceparent: metadata.traceparent ?? null,
    correlationId: metadata.correlationId,
    body: JSON.stringify({ ...about, batchId, data: { endedAt, counts, links } }),
  };
};
