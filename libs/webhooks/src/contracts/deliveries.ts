import { Query } from '@nestjs/cqrs';

/** One event of a reading on its way to one endpoint. Instants are RFC 3339 UTC. */
export interface DeliveryOfReading {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: 'pending' | 'succeeded' | 'exhausted' | 'skipped';
  readonly attempts: number;
  readonly createdAt: string;
  /** When it was delivered or given up; `null` while it is pending. */
  readonly settledAt: string | null;
}

/** What was sent of a reading, and to whom: the oldest first. Deliveries that were deleted after their time are not in it. */
export class ListDeliveriesOfReading extends Query<readonly DeliveryOfReading[]> {
  constructor(readonly readingId: string) {
    super();
  }
}
