import type { Logger } from 'pino';
import type { QueryBus } from '@nestjs/cqrs';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import { AsksForRefusal } from '#readings/contracts/index.js';
import type { EndpointStreams } from '../../application/endpoint-streams.js';
import type { AnswerVault, HeaderVault, SecretVault } from '../../application/vaults.js';
import {
  ASKED_REFUSAL,
  disablement,
  isOfWayOut,
  pauseAfterOwnFailure,
  retryPause,
  type AttemptResult,
} from '../../domain/attempt.js';
import { signedHeaders } from '../../domain/signed-headers.js';
import { refsInForce } from '../../domain/webhook-endpoint.decider.js';
import type { DisabledReason } from '../../contracts/events.js';
import { wholeBody } from '../../read-models/event-feed.js';
import type { Config } from '../../settings.js';
import type { DueDelivery } from './due-deliveries.js';
import type { FinishedAttempt, OutcomeLog } from './outcome-log.js';
import type { SendsRequests } from './sender.js';

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

/** How an attempt ended. `null`: nothing was sent, or its outcome is unknown. */
export type Ended = { readonly result: AttemptResult; readonly hasDisabled: boolean } | null;

/** When a delivery that could not be prepared is due again (ms). */
const RETRY_PREPARING_MS = 30_000;
/** An endpoint without a success for this long, and with 10 failures, is disabled (ms): 120 hours, as docs/webhooks.md says. */
const DISABLE_AFTER_MS = 432_000_000;

/** Makes attempts: signs, sends, records the outcome, and disables endpoints that fail for too long. */
export class DeliveryAttempts {
  private readonly recurring = new Recurring();

  constructor(private readonly parts: AttemptParts) {}

  cancel(): void {
    this.parts.sender.cancel();
  }

  /**
   * Resolves when the outcome is recorded, or the attempt was cancelled or rescheduled.
   * @param lease of its workspace @param onSuccess called before a success is recorded: the next may start meanwhile
   */
  async make(delivery: DueDelivery, lease: string, onSuccess: () => void): Promise<Ended> {
    const { clock, answers, outcomes } = this.parts;
    const startedAt = clock.now();
    const result = await this.send(delivery, startedAt).catch((error: unknown) =>
      this.reschedule(delivery, lease, error),
    );
    if (result === null || result === 'cancelled') return null;
    if (result.error === null) onSuccess();
    const endedAt = clock.now();
    const pause = result.error === null ? null : this.pauseAfter(delivery, result);
    const attempt = {
      ...delivery,
      number: delivery.attempt,
      lease,
      startedAt,
      endedAt,
      result,
      answer: result.error === null ? null : await answers.seal(delivery, result.responseBody),
      nextAt: pause === null ? null : endedAt + pause,
    };
    const failures = await outcomes.record(attempt);
    this.report(delivery, result);
    // A success; or it says nothing about the receiver, the endpoint has another URL now, or another worker has the workspace.
    if (failures === null) return { result, hasDisabled: false };
    const after = this.parts.disableAfterMs ?? DISABLE_AFTER_MS;
    const reason = disablement({ statusCode: result.statusCode, ...failures, at: endedAt }, after);
    if (reason !== null) await this.disable(delivery, attempt, reason, failures.failingSince);
    return { result, hasDisabled: reason !== null };
  }

  private pauseAfter(
    { deliveryId, attempt }: DueDelivery,
    { error, retryAfterMs }: AttemptResult,
  ): number | null {
    const { WEBHOOK_RETRY_SCHEDULE_MS: schedule } = this.parts.config;
    return isOfWayOut(error)
      ? pauseAfterOwnFailure(schedule, deliveryId, attempt)
      : retryPause(schedule, deliveryId, attempt, retryAfterMs);
  }

  /** Nothing was sent, for want of a key, secret or headers. It may last: meanwhile it takes no slot and counts no attempt. */
  private async reschedule(delivery: DueDelivery, lease: string, error: unknown): Promise<null> {
    const { deliveryId, attempt: number, readingId, requestId } = delivery;
    const { outcomes, clock, log } = this.parts;
    await outcomes.reschedule({ deliveryId, number, lease }, clock.now() + RETRY_PREPARING_MS);
    const reason = error instanceof Error ? error.message : 'unknown';
    const times = this.recurring.happened(reason);
    if (times > 0)
      log.warn(
        { deliveryId, readingId, requestId, reason, times },
        'a delivery cannot be prepared; it is tried again',
      );
    return null;
  }

  /** A delivered webhook is the rule: at thousands a second, only `LOG_LEVEL=debug` shows each. */
  private report(delivery: DueDelivery, { error, statusCode }: AttemptResult): void {
    const { type, eventId, requestId, readingId, deliveryId, endpointId, attempt } = delivery;
    const about = { requestId, readingId, eventId, type, deliveryId, endpointId };
    const details = { ...about, attempt, statusCode };
    if (error === null) this.parts.log.debug(details, 'webhook delivered');
    else this.parts.log.info({ ...details, error }, 'webhook not delivered');
  }

  private async send(delivery: DueDelivery, at: number): Promise<AttemptResult | 'cancelled'> {
    if (await this.isRefusedAsAsked(delivery)) return ASKED_REFUSAL;
    const { vault, sender, queryBus } = this.parts;
    const { endpointId, url } = delivery;
    const secrets = await vault.open(endpointId, refsInForce(delivery.secrets, at));
    if (secrets.length === 0) throw new Error('no secret in force to sign with');
    const body = Buffer.from(await wholeBody(delivery, queryBus), 'utf8');
    const redelivery = delivery.redelivery || delivery.replayed;
    const timestamp = Math.floor(at / 1_000);
    const headers = signedHeaders({ ...delivery, redelivery, body, secrets, timestamp });
    const custom = await this.parts.headers.open(endpointId, delivery.headersRef);
    return sender.send({ endpointId, url, headers: { ...custom, ...headers }, body });
  }

  /** What a person asks to send, such as a trial or a redelivery, is sent. */
  private async isRefusedAsAsked(delivery: DueDelivery): Promise<boolean> {
    const { livemode, readingId, attempt, test, redelivery, replayed } = delivery;
    if (livemode || readingId === null || test || redelivery || replayed) return false;
    return this.parts.queryBus.execute(new AsksForRefusal(readingId, attempt));
  }

  private async disable(
    { workspaceId }: DueDelivery,
    { deliveryId, number, endpointId, url }: FinishedAttempt,
    reason: DisabledReason,
    failingSince: number,
  ): Promise<void> {
    const { kind } = await this.parts.streams.execute(
      endpointId,
      { type: 'DisableEndpoint', reason, url },
      {
        workspaceId,
        by: causedBy({ correlationId: deliveryId, causationId: deliveryId }, 'webhooks.dispatcher'),
        intent: `disable|${deliveryId}|${number}`,
      },
    );
    if (kind !== 'accepted') return;
    const since = instant(failingSince);
    this.parts.log.warn({ endpointId, deliveryId, reason, since }, 'webhook endpoint disabled');
  }
}
