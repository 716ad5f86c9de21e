import { Query } from '@app/platform/cqrs/message.js';

/** The stored status of a delivery. `pending` until it is settled; the others are final. */
export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted', 'skipped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The delivery of one event of a reading to one endpoint. Instants are RFC 3339 UTC. */
export interface DeliveryOfReading {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly createdAt: string;
  /** When it was settled; `null` while it is pending. */
  readonly settledAt: string | null;
}

/** The deliveries of a reading, oldest first, without those deleted after their retention. */
export class ListDeliveriesOfReading extends Query<readonly DeliveryOfReading[]> {
  constructor(readonly readingId: string) {
    super();
  }
}

/**
 * Writes the deliveries settled before an instant, one JSON object a line (UTF-8), from one snapshot: ids, type, status, times
 * and every attempt, without bodies and without receivers' answers. They are in no order. Returns their number.
 */
export class ExportDeliveries extends Query<number> {
  /**
   * @param until RFC 3339, exclusive
   * @param write called with whole or part lines
   */
  constructor(
    readonly until: string,
    readonly write: (part: Buffer) => void,
  ) {
    super();
  }
}
