import type { Logger } from 'pino';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import type { QueryBus } from '@nestjs/cqrs';
import { AsksForRefusal } from '#readings/contracts/index.js';
import type { AnswerVault, HeaderVault, SecretVault } from '../../application/vaults.js';
import type { EndpointStreams } from '../../application/endpoint-streams.js';
import { wholeBody } from '../../read-models/event-feed.js';
import {
  ASKED_REFUSAL,
  PROBE_PAUSE_MS,
  disablement,
  isOfWayOut,
  type AttemptResult,
  pauseAfterOwnFailure,
  retryPause,
} from '../../domain/attempt.js';
import { signedHeaders } from '../../domain/signed-headers.js';
import { refsInForce } from '../../domain/webhook-endpoint.decider.js';
import type { DueDelivery } from './due-deliveries.js';
import type { HeldEndpoint, HeldWorkspace } from './held-workspace.js';
import type { FinishedAttempt, OutcomeLog } from './outcome-log.js';
import type { Config } from '../../settings.js';
import type { SendsRequests } from './sender.js';
import type { EndpointSnapshot } from './workspace-leases.js';

interface DeliveryInFlight {
  readonly workspace: HeldWorkspace;
  readonly endpoint: HeldEndpoint;
  readonly delivery: DueDelivery;
  /** Called once, when the delivery no longer counts as in flight. `null`: nothing is known of its outcome. */
  readonly onExchangeEnd: (result: AttemptResult | null) => void;
}

export interface AttemptParts {
  readonly sender: SendsRequests;
  readonly outcomes: OutcomeLog;
  readonly vault: SecretVault;
  readonly answers: AnswerVault;
  readonly headers: HeaderVault;
  readonly streams: EndpointStreams;
  readonly queryBus: Pick<QueryBus, 'execute'>;
  readonly clock: Clock;
  readonly config: Pick<Config, 'WEBHOOK_RETRY_SCHEDULE_MS'>;
  readonly disableAfterMs?: number;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

/** When a delivery that could not be prepared is due again (ms). */
const RETRY_PREPARING_MS = 30_000;
/** An endpoint without a success for this long, and with 10 failures, is disabled (ms): 120 hours, as docs/webhooks.md says. */
const DISABLE_AFTER_MS = 432_000_000;

/** Makes attempts: signs, sends, records the outcome, and disables endpoints that fail for too long. */
export class DeliveryAttempts {
  private readonly recurring = new Recurring();

  constructor(private readonly parts: AttemptParts) {}

  /** Resolves when the outcome is recorded, or the attempt was cancelled or rescheduled. */
  async make({ workspace, endpoint, delivery, onExchangeEnd }: DeliveryInFlight): Promise<void> {
    const { clock } = this.parts;
    const startedAt = clock.now();
    // The endpoint may be read again during the attempt.
    const { snapshot } = endpoint;
    const result = await this.send(snapshot, delivery, startedAt).catch((error: unknown) =>
      this.reschedule(workspace, delivery, error).finally(() => onExchangeEnd(null)),
    );
    if (result === undefined) return;
    if (result === 'cancelled') {
      onExchangeEnd(null);
      return;
    }
    const attempt = {
      deliveryId: delivery.deliveryId,
      number: delivery.attempt,
      endpointId: snapshot.endpointId,
      url: snapshot.url,
      redelivery: delivery.redelivery,
      lease: workspace.lease,
      startedAt,
      endedAt: clock.now(),
      result,
      answer: null,
    };
    const recording = this.record(workspace, endpoint, delivery, attempt);
    // After a success the next delivery may start while this one is recorded; a failure is counted first.
    if (result.error !== null) return recording.finally(() => onExchangeEnd(result));
    onExchangeEnd(result);
    await recording;
  }

  /** Nothing was sent, for want of a key, secret or headers. It may last: meanwhile it takes no slot and counts no attempt. */
  private async reschedule(
    workspace: HeldWorkspace,
    { deliveryId, attempt, readingId, requestId }: DueDelivery,
    error: unknown,
  ): Promise<undefined> {
    const { outcomes, clock, log } = this.parts;
    workspace.recording += 1;
    try {
      const of = { deliveryId, number: attempt, lease: workspace.lease };
      await outcomes.reschedule(of, clock.now() + RETRY_PREPARING_MS);
    } finally {
      workspace.recording -= 1;
    }
    const reason = error instanceof Error ? error.message : 'unknown';
    const times = this.recurring.happened(reason);
    if (times > 0)
      log.warn(
        { deliveryId, readingId, requestId, reason, times },
        'a delivery cannot be prepared; it is tried again',
      );
  }

  private async record(
    workspace: HeldWorkspace,
    endpoint: HeldEndpoint,
    delivery: DueDelivery,
    attempt: FinishedAttempt,
  ): Promise<void> {
    const { result } = attempt;
    workspace.recording += 1;
    try {
      await (result.error === null
        ? this.recordSuccess(endpoint, attempt)
        : this.recordFailure(workspace, endpoint, {
            ...attempt,
            answer: await this.parts.answers.seal(delivery, result.responseBody),
          }));
      this.report(delivery, attempt);
    } finally {
      workspace.recording -= 1;
    }
  }

  /** A delivered webhook is the rule: at thousands a second, only `LOG_LEVEL=debug` shows each. */
  private report(
    { type, eventId, requestId, readingId }: DueDelivery,
    { deliveryId, endpointId, number, result }: FinishedAttempt,
  ): void {
    const { error, statusCode } = result;
    const about = { requestId, readingId, eventId, type, deliveryId, endpointId };
    const details = { ...about, attempt: number, statusCode };
    if (error === null) this.parts.log.debug(details, 'webhook delivered');
    else this.parts.log.info({ ...details, error }, 'webhook not delivered');
  }

  cancel(): void {
    this.parts.sender.cancel();
  }

  private async send(
    endpoint: EndpointSnapshot,
    delivery: DueDelivery,
    at: number,
  ): Promise<AttemptResult | 'cancelled'> {
    if (await this.isRefusedAsAsked(delivery)) return ASKED_REFUSAL;
    const { vault, sender, queryBus } = this.parts;
    const { endpointId, url } = endpoint;
    const secrets = await vault.open(endpointId, refsInForce(endpoint.secrets, at));
    if (secrets.length === 0) throw new Error('no secret in force to sign with');
    const body = Buffer.from(await wholeBody(delivery, queryBus), 'utf8');
    const redelivery = delivery.redelivery || delivery.replayed;
    const timestamp = Math.floor(at / 1_000);
    const headers = signedHeaders({ ...delivery, redelivery, body, secrets, timestamp });
    const custom = await this.parts.headers.open(endpointId, endpoint.headersRef);
    return sender.send({ endpointId, url, headers: { ...custom, ...headers }, body });
  }

  /** What a person asks to send, such as a trial or a redelivery, is sent. */
  private async isRefusedAsAsked(delivery: DueDelivery): Promise<boolean> {
    const { livemode, readingId, attempt, test, redelivery, replayed } = delivery;
    if (livemode || readingId === null || test || redelivery || replayed) return false;
    return this.parts.queryBus.execute(new AsksForRefusal(readingId, attempt));
  }

  private async recordSuccess(endpoint: HeldEndpoint, attempt: FinishedAttempt): Promise<void> {
    if (await this.parts.outcomes.succeeded(attempt)) endpoint.succeeded(performance.now());
  }

  private async recordFailure(
    workspace: HeldWorkspace,
    endpoint: HeldEndpoint,
    attempt: FinishedAttempt,
  ): Promise<void> {
    const { outcomes, config } = this.parts;
    const { deliveryId, number, endpointId, url, endedAt, result } = attempt;
    const schedule = config.WEBHOOK_RETRY_SCHEDULE_MS;
    const backOffMs = isOfWayOut(result.error)
      ? pauseAfterOwnFailure(schedule, deliveryId, number)
      : retryPause(schedule, deliveryId, number, result.retryAfterMs);
    const failures = await outcomes.failed(attempt, backOffMs);
    // It says nothing about the receiver, the endpoint has another URL now, or another worker has the workspace and counts failures itself.
    if (failures === null) return;
    endpoint.failed(failures.consecutiveFailures, endedAt + PROBE_PAUSE_MS, performance.now());
    const { statusCode } = result;
    const reason = disablement(
      { statusCode, ...failures, at: endedAt },
      this.parts.disableAfterMs ?? DISABLE_AFTER_MS,
    );
    if (reason === null) return;
    endpoint.disable();
    const { kind } = await this.parts.streams.execute(
      endpointId,
      { type: 'DisableEndpoint', reason, url },
      {
        workspaceId: workspace.workspaceId,
        by: causedBy({ correlationId: deliveryId, causationId: deliveryId }, 'webhooks.dispatcher'),
        intent: `disable|${deliveryId}|${number}`,
      },
    );
    if (kind !== 'accepted') return;
    const since = instant(failures.failingSince);
    this.parts.log.warn({ endpointId, deliveryId, reason, since }, 'webhook endpoint disabled');
  }
}
