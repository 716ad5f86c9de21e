import { serviceSignature, standardSignature } from '../signature/signature.js';

export interface SignedDelivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly type: string;
  /** From 1. */
  readonly attempt: number;
  readonly test: boolean;
  readonly redelivery: boolean;
  readonly body: Uint8Array;
  /** In force at `timestamp`, newest first. */
  readonly secrets: readonly string[];
  /** Unix seconds of the attempt. */
  readonly timestamp: number;
}

/** The headers of one attempt, signed at its own time. */
export const deliveryHeaders = (delivery: SignedDelivery): Readonly<Record<string, string>> => {
  const { deliveryId, eventId, type, attempt, test, redelivery, body, secrets, timestamp } = delivery;
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'reading-service-webhooks/1',
    'x-service-event': type,
    'x-service-timestamp': String(timestamp),
    'x-service-signature': serviceSignature(secrets, timestamp, body),
    'x-service-event-id': eventId,
    'x-service-delivery-id': deliveryId,
    'x-service-attempt': String(attempt),
    ...(test ? { 'x-service-test': 'true' } : {}),
    ...(redelivery ? { 'x-service-redelivery': 'true' } : {}),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature(secrets, eventId, timestamp, body),
  };
};
