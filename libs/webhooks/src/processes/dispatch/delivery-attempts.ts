import type { Logger } from 'pino';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import type { Config } from '@app/platform/config/settings.js';
import type { EndpointStreams } from '../../application/endpoint-streams.js';
import type { SecretVault } from '../../application/secrets/secret-vault.js';
import { PROBE_PAUSE_MS, disablement, type AttemptResult } from '../../domain/delivery/attempt-result.js';
import { deliveryHeaders } from '../../domain/delivery/delivery-headers.js';
import { retryPause } from '../../domain/delivery/retry-schedule.js';
import type { DueDelivery } from './due-deliveries.js';
import type { Lanes } from './workspace-queues.js';
import type { FinishedAttempt, OutcomeLog } from './outcome-log.js';
import type { SendsRequests } from './observed-sender.js';
import type { EndpointTurn, Turn } from './claimed-workspace.js';

/** A delivery that has its place. */
export interface Departure {
  readonly turn: Turn;
  readonly endpoint: EndpointTurn;
  readonly delivery: DueDelivery;
  /** Told as soon as the place is free. */
  readonly landed: () => void;
}

export interface AttemptParts {
  readonly sender: SendsRequests;
  readonly outcomes: OutcomeLog;
  readonly lanes: Lanes;
  readonly vault: SecretVault;
  readonly streams: EndpointStreams;
  readonly clock: Clock;
  readonly config: Pick<Config, 'WEBHOOK_RETRY_SCHEDULE_MS' | 'WEBHOOK_DISABLE_AFTER_MS'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** Makes attempts: signs, sends, records, and draws the consequences for the endpoint. */
export class DeliveryAttempts {
  constructor(private readonly parts: AttemptParts) {}

  /** Resolves when the outcome is recorded, or the attempt was cut off. */
  async make({ turn, endpoint, delivery, landed }: Departure): Promise<void> {
    const { clock, lanes } = this.parts;
    const startedAt = clock.now();
    let isPlaced = true;
    const leave = (): void => {
      if (isPlaced) landed();
      isPlaced = false;
    };
    try {
      const result = await this.send(endpoint, delivery, startedAt);
      if (result === 'cut off') {
        if (turn.isGivenBack) await lanes.release(turn, delivery.deliveryId, clock.now());
        return;
      }
      turn.recording += 1;
      const attempt = {
        deliveryId: delivery.deliveryId,
        number: delivery.attempt,
        endpointId: endpoint.endpoint.endpointId,
        url: endpoint.endpoint.url,
        redelivery: delivery.redelivery,
        lease: turn.lease,
        startedAt,
        endedAt: clock.now(),
        result,
      };
      try {
        // After a success the next may go while this one is recorded; a failure is counted first.
        if (result.error === null) leave();
        await (result.error === null
          ? this.recordSuccess(endpoint, attempt)
          : this.recordFailure(turn, endpoint, attempt));
      } finally {
        turn.recording -= 1;
      }
      if (turn.isGivenBack) await lanes.open(turn.workspaceId, attempt.endedAt);
    } finally {
      leave();
    }
  }

  /** Ends every attempt that is being made, without a result. */
  cutOff(): void {
    this.parts.sender.cutOff();
  }

  close(): Promise<void> {
    return this.parts.sender.close();
  }

  private async send(
    { endpoint }: EndpointTurn,
    delivery: DueDelivery,
    at: number,
  ): Promise<AttemptResult | 'cut off'> {
    const { vault, sender } = this.parts;
    const { endpointId, url } = endpoint;
    const refs = endpoint.secrets
      .filter(({ validUntil }) => validUntil === null || Date.parse(validUntil) > at)
      .map(({ ref }) => ref);
    const secrets = await vault.open(endpointId, refs);
    if (secrets.length === 0) throw new Error('no secret in force to sign with');
    const body = Buffer.from(delivery.body, 'utf8');
    const redelivery = delivery.redelivery || delivery.replayed;
    const headers = deliveryHeaders({
      ...delivery,
      redelivery,
      body,
      secrets,
      timestamp: Math.floor(at / 1_000),
    });
    return sender.send({ endpointId, url, headers, body });
  }

  private async recordSuccess(endpoint: EndpointTurn, attempt: FinishedAttempt): Promise<void> {
    if (await this.parts.outcomes.succeeded(attempt)) endpoint.succeeded();
  }

  private async recordFailure(turn: Turn, endpoint: EndpointTurn, attempt: FinishedAttempt): Promise<void> {
    const { outcomes, config } = this.parts;
    const { deliveryId, number, endpointId, endedAt, result } = attempt;
    const schedule = config.WEBHOOK_RETRY_SCHEDULE_MS;
    const pauseMs = retryPause(schedule, deliveryId, number, result.retryAfterMs);
    const failures = await outcomes.failed(attempt, pauseMs);
    // The endpoint has moved, or another worker sends for this workspace now and draws its own consequences.
    if (failures === null) return;
    endpoint.failed(failures.consecutiveFailures, endedAt + PROBE_PAUSE_MS);
    const { statusCode } = result;
    const reason = disablement({ statusCode, ...failures, at: endedAt }, config.WEBHOOK_DISABLE_AFTER_MS);
    if (reason === null) return;
    endpoint.stop();
    const { kind } = await this.parts.streams.execute(
      endpointId,
      { type: 'DisableEndpoint', reason, url: endpoint.endpoint.url },
      {
        workspaceId: turn.workspaceId,
        actor: 'system:webhooks.dispatcher',
        correlationId: deliveryId,
        intent: `disable|${deliveryId}|${number}`,
      },
    );
    if (kind !== 'accepted') return;
    const since = instant(failures.failingSince);
    this.parts.log.warn({ endpointId, reason, since }, 'webhook endpoint disabled');
  }
}
