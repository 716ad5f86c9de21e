import { sql, type Statement } from '#event-sourcing/projections/statement.js';
import type { PublicEvent } from '../../domain/delivery/public-event.js';

/** A failed reading whose credits are still held. */
export interface UnreleasedFailure {
  /** Id of the ReadingFailed, which its release will name. */
  readonly causeEventId: string;
  readonly event: PublicEvent;
}

export interface Release {
  readonly causeEventId: string;
  /** Position in the log, in decimal: the failure is sent as of it. */
  readonly position: string;
}

/**
 * Stores the public events of failures until their credits are released. An event already stored or sent adds nothing.
 */
export const keepFailures = (failures: readonly UnreleasedFailure[]): Statement => {
  const column = <K extends keyof PublicEvent>(name: K): readonly PublicEvent[K][] =>
    failures.map(({ event }) => event[name]);
  return sql`
    insert into webhooks.unreleased_failure (cause_event_id, event_id, workspace_id, reading_id, type, occurred_at, head,
                                             tail, traceparent, correlation_id, livemode)
    select *
    from unnest(${failures.map(({ causeEventId }) => causeEventId)}::text[], ${column('eventId')}::text[],
                ${column('workspaceId')}::text[], ${column('readingId')}::uuid[], ${column('type')}::text[],
                ${column('occurredAt')}::timestamptz[], ${column('bodyHead')}::text[], ${column('bodyTail')}::text[],
                ${column('traceparent')}::text[], ${column('correlationId')}::text[],
                ${column('livemode')}::boolean[])
      as failure (cause_event_id, event_id, workspace_id, reading_id, type, occurred_at, head, tail, traceparent,
                  correlation_id, livemode)
    where not exists (select from webhooks.public_event known where known.event_id = failure.event_id)
    on conflict (cause_event_id) do nothing`;
};

/**
 * SQL: removes and returns the failures whose credits these events release, as rows of public events. The release of a
 * request that never became a reading, or a repeated one, names none.
 */
export const takeReleased = (releases: readonly Release[]): Statement => sql`
  delete from webhooks.unreleased_failure failure
  using unnest(${releases.map(({ causeEventId }) => causeEventId)}::text[],
               ${releases.map(({ position }) => position)}::numeric[]) as release (cause_event_id, position)
  where failure.cause_event_id = release.cause_event_id
  returning failure.event_id, failure.workspace_id, failure.reading_id, failure.type, failure.occurred_at, failure.head,
            failure.tail, release.position, failure.traceparent, failure.correlation_id, failure.livemode`;
