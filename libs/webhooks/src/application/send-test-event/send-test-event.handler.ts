import { Inject } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import { PrepareTrialReading } from '#readings/contracts/index.js';
import { madeUpEvent } from '../../domain/delivery/public-event.js';
import { DeliveryRows } from '../../read-models/delivery/delivery-rows.js';
import { isReferenced, showsExternalIds, storedBody } from '../../read-models/delivery/delivery-sql.js';
import { INSERT_SKIPPED } from '../../read-models/delivery/settled-sql.js';
import { EndpointAccess } from '../endpoint-access.js';
import { lockRequestsOf } from '../lock-requests.js';
import { OPEN_ENDPOINT } from '../open-endpoint.js';
import { probeNow } from '../probe-now.js';
import { SendTestEvent, type SendTestEventResult } from './send-test-event.command.js';

/** Trials that may wait to be sent to each endpoint: they are free of charge. */
const TRIALS_PER_ENDPOINT = 10;

@CommandHandler(SendTestEvent)
export class SendTestEventHandler implements ICommandHandler<SendTestEvent> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly deliveries: DeliveryRows,
    private readonly commands: CommandBus,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ endpointId, workspaceId, sees, type, by }: SendTestEvent): Promise<SendTestEventResult> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const trial = await this.commands.execute(new PrepareTrialReading(workspaceId, by));
    if (trial.outcome !== 'ready') return trial;
    const occurredAt = instant(this.clock.now());
    // A queue of its own: neither does a trial wait for events of the reading, nor they for it.
    const [eventId, queue, deliveryId] = [`evt_${randomUUID()}`, randomUUID(), randomUUID()];
    const { readingId, bodyHead, bodyTail } = madeUpEvent(
      { eventId, type, workspaceId, occurredAt },
      { readingId: trial.readingId, livemode: false, document: trial.document },
      { trial: true },
    );
    const isQueued = await transaction(this.pool, async (client) => {
      await lockRequestsOf(client, endpointId);
      if (!(await this.hasPlace(client, endpointId))) return false;
      await client.query(
        `with ${OPEN_ENDPOINT}, sample as (
         insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at,
                                            livemode, shows_external_id)
         select $3, $4, $5::uuid, $6, 0, ${storedBody('$7::text', 'shows', 'is_referenced')}, $8::timestamptz, false,
                shows and is_referenced
         from (select ${showsExternalIds('$4')} as shows, $11::boolean and ${isReferenced('$5::uuid')} as is_referenced) reference
         returning event_id, workspace_id, sequence, occurred_at
       ), skipped as (${INSERT_SKIPPED}
         select $9, $1, event_id, 'skipped', 0, true, false, occurred_at, occurred_at
         from sample cross join open_endpoint where not is_open
       ), inserted as (
         insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                        due_at, test, created_at)
         select $9, $1, workspace_id, event_id, $10::uuid, sequence, 'pending', occurred_at, true, occurred_at
         from sample cross join open_endpoint where is_open
       )
       select pg_notify('webhooks_due', $4)`,
        [
          endpointId,
          known.record.enabled,
          eventId,
          workspaceId,
          readingId,
          type,
          `${bodyHead}0${bodyTail}`,
          occurredAt,
          deliveryId,
          queue,
          sees.includes('test'),
        ],
      );
      await probeNow(client, endpointId, occurredAt);
      return true;
    });
    return isQueued
      ? { outcome: 'queued', delivery: (await this.deliveries.find(endpointId, deliveryId))! }
      : { outcome: 'too_many_test_events', limit: TRIALS_PER_ENDPOINT };
  }

  private async hasPlace(client: pg.PoolClient, endpointId: string): Promise<boolean> {
    const { rowCount } = await client.query(
      `select from webhooks.delivery where endpoint_id = $1 and status = 'pending' and test limit $2`,
      [endpointId, TRIALS_PER_ENDPOINT],
    );
    return (rowCount ?? 0) < TRIALS_PER_ENDPOINT;
  }
}
