import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import type { Config } from '@app/platform/config/settings.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import type { EndpointStreams } from '../../application/endpoint-streams.js';
import type { SecretVault } from '../../application/secrets/secret-vault.js';
import { disablement, type AttemptResult } from '../../domain/delivery/attempt-result.js';
import { deliveryHeaders } from '../../domain/delivery/delivery-headers.js';
import { retryPause } from '../../domain/delivery/retry-schedule.js';
import type { ClaimedDelivery } from './claim.js';
import type { DeliveryQueue, EndpointFailures } from './delivery-queue.js';
import type { SendsRequests } from './observed-sender.js';
import type { WakeSignal } from './wake-signal.js';

/** Attempts one worker process makes at a time. */
const IN_FLIGHT = 128;
/** A busy worker claims for so many free places together, or after a pause: a claim costs as much for one as for many. */
const CLAIM_TOGETHER = 64;
const CLAIM_PAUSE_MS = 5;
/** How long attempts may go on after the worker was told to stop; then they are given back. */
const DRAIN_MS = 5_000;

export interface DispatcherParts {
  readonly queue: DeliveryQueue;
  readonly sender: SendsRequests;
  readonly vault: SecretVault;
  readonly streams: EndpointStreams;
  readonly wake: WakeSignal;
  readonly clock: Clock;
  readonly config: Pick<Config, 'WEBHOOK_RETRY_SCHEDULE_MS' | 'WEBHOOK_DISABLE_AFTER_MS'>;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}

/**
 * Sends due deliveries until told to stop. A delivery that this worker does not finish becomes due again when its
 * lease ends, here or elsewhere: at least once, never lost.
 */
export class Dispatcher implements WorkLoop {
  readonly name = 'webhooks.dispatcher';
  readonly role = 'webhooks';
  private readonly inFlight = new Map<ClaimedDelivery, Promise<void>>();

  constructor(private readonly parts: DispatcherParts) {}

  async run(signal: AbortSignal): Promise<void> {
    const { wake } = this.parts;
    const cut = new AbortController();
    const listening = wake.listen(signal);
    while (!signal.aborted) {
      const taken = await this.take(cut.signal);
      if (taken === 0) await wake.wait(signal);
      if (IN_FLIGHT - this.inFlight.size < CLAIM_TOGETHER) await delay(CLAIM_PAUSE_MS);
    }
    await this.drain(cut);
    await Promise.all([this.parts.sender.close(), listening]);
  }

  private async take(cut: AbortSignal): Promise<number> {
    const { queue, clock, log, wake } = this.parts;
    const places = IN_FLIGHT - this.inFlight.size;
    if (places <= 0) return 0;
    try {
      const claimed = await queue.claim(places, clock.now());
      for (const delivery of claimed) {
        const attempt = this.attempt(delivery, cut)
          .catch((error: unknown) => {
            const reason = error instanceof Error ? error.message : 'unknown';
            log.error({ deliveryId: delivery.deliveryId, reason }, 'a delivery was left to its lease');
          })
          .finally(() => {
            this.inFlight.delete(delivery);
            wake.now();
          });
        this.inFlight.set(delivery, attempt);
      }
      return claimed.length;
    } catch (error) {
      log.warn(
        { reason: error instanceof Error ? error.message : 'unknown' },
        'due deliveries cannot be read',
      );
      return 0;
    }
  }

  private async attempt(delivery: ClaimedDelivery, cut: AbortSignal): Promise<void> {
    const { queue, clock, config } = this.parts;
    const startedAt = clock.now();
    const result = await this.send(delivery, startedAt, cut);
    if (result === 'cut off') return queue.release([delivery], clock.now());
    const attempt = { startedAt, endedAt: clock.now(), result };
    if (result.error === null) return queue.succeed(delivery, attempt);
    const schedule = config.WEBHOOK_RETRY_SCHEDULE_MS;
    const pauseMs = retryPause(schedule, delivery.deliveryId, delivery.attempt, result.retryAfterMs);
    const failures = await queue.fail(delivery, attempt, pauseMs);
    await this.disableIfDue(delivery, result, failures, attempt.endedAt);
  }

  private async send(
    delivery: ClaimedDelivery,
    at: number,
    cut: AbortSignal,
  ): Promise<AttemptResult | 'cut off'> {
    const { vault, sender } = this.parts;
    const refs = delivery.secrets.filter(
      ({ validUntil }) => validUntil === null || Date.parse(validUntil) > at,
    );
    const secrets = await vault.open(
      delivery.endpointId,
      refs.map(({ ref }) => ref),
    );
    if (secrets.length === 0) throw new Error('no secret in force to sign with');
    const body = Buffer.from(delivery.body, 'utf8');
    const headers = deliveryHeaders({ ...delivery, body, secrets, timestamp: Math.floor(at / 1_000) });
    try {
      return await sender.send({ endpointId: delivery.endpointId, url: delivery.url, headers, body }, cut);
    } catch (error) {
      if (cut.aborted) return 'cut off';
      throw error;
    }
  }

  private async disableIfDue(
    { endpointId, workspaceId, deliveryId, attempt }: ClaimedDelivery,
    { statusCode }: AttemptResult,
    failures: EndpointFailures,
    at: number,
  ): Promise<void> {
    const reason = disablement({ statusCode, ...failures, at }, this.parts.config.WEBHOOK_DISABLE_AFTER_MS);
    if (reason === null) return;
    await this.parts.streams.execute(
      endpointId,
      { type: 'DisableEndpoint', reason },
      {
        workspaceId,
        actor: 'system:webhooks.dispatcher',
        correlationId: deliveryId,
        intent: `disable|${deliveryId}|${attempt}`,
      },
    );
    this.parts.log.warn(
      { endpointId, reason, since: instant(failures.failingSince) },
      'webhook endpoint disabled',
    );
  }

  /** Lets attempts finish for a while, then cuts them off; they give their deliveries back. */
  private async drain(cut: AbortController): Promise<void> {
    const timer = setTimeout(() => cut.abort(), DRAIN_MS);
    await Promise.allSettled(this.inFlight.values());
    clearTimeout(timer);
  }
}
