import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import pg from 'pg';
import { copyOut } from '#platform/postgres/copy.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { ExportDeliveries } from '../../contracts/deliveries.js';
import { ALL_DELIVERIES } from './settled-sql.js';

const TIME = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
const utc = (column: string): string => `to_char(${column} at time zone 'UTC', ${TIME})`;

/** In the order of the columns, so that each line has the same members in the same order. */
const line = (until: string): string => `
  select json_build_object(
    'deliveryId', delivery_id, 'endpointId', endpoint_id, 'workspaceId', event.workspace_id, 'eventId', event_id,
    'type', event.type, 'readingId', event.reading_id, 'livemode', event.livemode, 'sequence', event.sequence,
    'status', status, 'test', test, 'redelivery', redelivery, 'replayId', replay_id,
    'createdAt', ${utc('created_at')}, 'settledAt', ${utc('settled_at')},
    'history', coalesce(attempts.history, '[]'))
  from ${ALL_DELIVERIES} left join webhooks.public_event event using (event_id)
  cross join lateral (
    select json_agg(json_build_object(
      'number', number, 'startedAt', ${utc('attempt.started_at')}, 'durationMs', attempt.duration_ms,
      'statusCode', attempt.status_code, 'error', attempt.error) order by number) as history
    from (
      select number, started_at, duration_ms, status_code, error from webhooks.attempt
      where attempt.delivery_id = delivery.delivery_id
      union all
      select delivery.attempts, delivery.started_at, delivery.duration_ms, delivery.status_code, delivery.error
      where delivery.started_at is not null
      union all
      select (one ->> 'number')::integer, (one ->> 'startedAt')::timestamptz, (one ->> 'durationMs')::integer,
             (one ->> 'statusCode')::integer, one ->> 'error'
      from jsonb_array_elements(delivery.earlier) one
    ) attempt
  ) attempts
  where delivery.status <> 'pending' and delivery.settled_at < ${pg.escapeLiteral(until)}::timestamptz`;

@QueryHandler(ExportDeliveries)
export class ExportDeliveriesHandler implements IQueryHandler<ExportDeliveries> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  execute({ until, write }: ExportDeliveries): Promise<number> {
    return transaction(this.pool, async (client) => {
      await client.query('set local statement_timeout = 0');
      let lines = 0;
      // None of these values has a character that COPY would escape.
      await copyOut(client, `copy (${line(until)}) to stdout`, (part) => {
        for (const byte of part) if (byte === 10) lines += 1;
        write(part);
      });
      return lines;
    });
  }
}
