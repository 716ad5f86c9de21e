import { Query } from '#platform/cqrs/message.js';

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

/** An attempt with what the receiver answered, as far as it is stored and can be opened. */
export interface AnsweredAttemptRecord {
  /** From 1. */
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** Class of failure; `null`: it succeeded. */
  readonly error: string | null;
  /**
   * First bytes of the answer as UTF-8. `null`: the attempt succeeded or a later one followed it, there was no answer, it was
   * a notice, or the reading was erased.
   */
  readonly answer: string | null;
}

/** A delivery with its attempts, for operators. */
export interface AnsweredDelivery extends DeliveryOfReading {
  readonly workspaceId: string;
  readonly readingId: string | null;
  readonly history: readonly AnsweredAttemptRecord[];
}

/**
 * One delivery with the receiver's answers to failed attempts: to all while it is pending, to the last one once it is
 * settled. `null`: there is no such delivery. @throws KeysUnavailable
 */
export class FindAnsweredDelivery extends Query<AnsweredDelivery | null> {
  constructor(readonly deliveryId: string) {
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
