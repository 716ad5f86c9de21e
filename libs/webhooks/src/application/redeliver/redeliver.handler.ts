import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { seesMode } from '#platform/auth/livemode.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import { DeletedPast } from '../../read-models/deleted-past/deleted-past.js';
import { DeliveryRows } from '../../read-models/delivery/delivery-rows.js';
import { NEVER_ATTEMPTED } from '../../read-models/delivery/delivery-sql.js';
import { ALL_DELIVERIES, INSERT_SKIPPED } from '../../read-models/delivery/settled-sql.js';
import { EndpointAccess } from '../endpoint-access.js';
import { lockRequestsOf } from '../lock-requests.js';
import { OPEN_ENDPOINT } from '../open-endpoint.js';
import { probeNow } from '../probe-now.js';
import { Redeliver, type RedeliverResult } from './redeliver.command.js';

/** The event of delivery $3. */
const EVENT = `(select event_id from ${ALL_DELIVERIES} where delivery_id = $3)`;

/** A pending redelivery counts as the requested one. So does a skipped one while the endpoint is disabled. */
const FIND = `
  with ${OPEN_ENDPOINT}
  select delivery_id from ${ALL_DELIVERIES} cross join open_endpoint
  where endpoint_id = $1 and event_id = ${EVENT} and redelivery and replay_id is null
    and (status = 'pending' or status = 'skipped' and attempts = 0 and not is_open)
  order by created_at limit 1`;

/** Makes a scheduled redelivery due now. */
const SEND_NOW = `
  update webhooks.delivery set due_at = $2 where delivery_id = $1 and status = 'pending' and due_at > $2`;

/** A redelivery that was skipped without an attempt is replaced. */
const REMOVE_SKIPPED = `
  delete from webhooks.settled_delivery unsent
  where endpoint_id = $1 and event_id = ${EVENT} and redelivery and replay_id is null and ${NEVER_ATTEMPTED}
    and delivery_id <> $3 and $2`;

const ADD = `
  with ${OPEN_ENDPOINT}, again as (
    select delivery.endpoint_id, event.workspace_id, event_id, event.reading_id, event.sequence, delivery.test, is_open
    from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id) cross join open_endpoint
    where delivery.delivery_id = $3
  ), skipped as (${INSERT_SKIPPED}
    select $5, endpoint_id, event_id, 'skipped', 0, test, true, $4::timestamptz, $4::timestamptz
    from again where not is_open
  )
  insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                 due_at, test, redelivery, created_at)
  select $5, endpoint_id, workspace_id, event_id, coalesce(reading_id, $5), sequence, 'pending', $4::timestamptz, test,
         true, $4::timestamptz
  from again where is_open`;

@CommandHandler(Redeliver)
export class RedeliverHandler implements ICommandHandler<Redeliver> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly deliveries: DeliveryRows,
    private readonly deleted: DeletedPast,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ endpointId, workspaceId, deliveryId, sees }: Redeliver): Promise<RedeliverResult> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const first = await this.deliveries.find(endpointId, deliveryId);
    if (!first || !(first.test || seesMode({ sees }, first.livemode)))
      return this.deleted.refusalOfDelivery(endpointId, sees);
    const { enabled, modes } = known.record;
    const receives = enabled && (first.test || seesMode({ sees: modes }, first.livemode));
    const again = await this.queue(endpointId, workspaceId, receives, deliveryId);
    return { outcome: 'queued', delivery: (await this.deliveries.find(endpointId, again))! };
  }

  /** @returns the id of the redelivery, which may be an existing one */
  private queue(
    endpointId: string,
    workspaceId: string,
    receives: boolean,
    deliveryId: string,
  ): Promise<string> {
    const at = instant(this.clock.now());
    return transaction(this.pool, async (client) => {
      await lockRequestsOf(client, endpointId);
      const of = [endpointId, receives, deliveryId];
      const found = await client.query<{ delivery_id: string }>(FIND, of);
      const known = found.rows[0]?.delivery_id;
      const again = known ?? randomUUID();
      if (known) await client.query(SEND_NOW, [known, at]);
      else {
        await client.query(REMOVE_SKIPPED, of);
        await client.query(ADD, [...of, at, again]);
      }
      await probeNow(client, endpointId, at);
      await client.query(`select pg_notify('webhooks_due', $1)`, [workspaceId]);
      return again;
    });
  }
}
