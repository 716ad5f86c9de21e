import { Receiver } from '../../apps/embedded/src/demo/receiver.js';

export type {
  Answer,
  ReceivedWebhook,
  Receiver,
  WebhookEvent,
} from '../../apps/embedded/src/demo/receiver.js';

/**
 * A webhook receiver on a free port. Set `secret` to the endpoint's signing secret and `answer` to what it replies;
 * `received` lists the received webhooks in order, each with `verified`. The stack must be started with
 * `RECEIVER_SETTINGS`, or it refuses the address.
 */
export const startReceiver = (): Promise<Receiver> => Receiver.start();

/** Settings that let webhooks reach a receiver on this machine. */
export const RECEIVER_SETTINGS = { WEBHOOK_ALLOW_HTTP: '1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } as const;
