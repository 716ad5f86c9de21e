import { Inject, Injectable } from '@nestjs/common';
import { CommandExecutor, type Outcome } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, EVENT_STORE, scopedEventStore } from '#event-sourcing/store/event-store.js';
import type { Clock } from '#event-sourcing/core/clock.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type Recorded } from '#event-sourcing/core/event.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { CLOCK } from '#platform/tokens.js';
import { webhookEndpointEvents, type WebhookEndpointEvent } from '../contracts/events.js';
import {
  webhookEndpoint,
  type WebhookEndpointCommand,
  type WebhookEndpointRejection,
  type WebhookEndpoint,
} from '../domain/webhook-endpoint.decider.js';
import type { RefusedByEndpoint } from '../contracts/refusals.js';

/** A frequently changed endpoint needs a cache: only its new events are read again. */
const CACHED_STREAMS = 500;

type EndpointOutcome = Outcome<WebhookEndpointEvent, WebhookEndpoint, WebhookEndpointRejection>;

interface EndpointContext {
  readonly by: RequestContext;
  readonly workspaceId: string;
  /** Identifies the command: a retry of the same request has the same. By default the request's correlation id. */
  readonly intent?: string;
  /** The id is new, so the stream need not be read first. */
  readonly fresh?: boolean;
}

/** Executes commands on endpoint streams, the only streams this module may append to. */
@Injectable()
export class EndpointStreams {
  private readonly executor: CommandExecutor<
    WebhookEndpointCommand,
    typeof webhookEndpointEvents,
    WebhookEndpoint,
    WebhookEndpointRejection
  >;

  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const own = scopedEventStore(store, [webhookEndpointEvents.category]);
    const options = { cachedStreams: CACHED_STREAMS };
    this.executor = new CommandExecutor(own, webhookEndpointEvents, webhookEndpoint, options);
  }

  execute(
    endpointId: string,
    command: WebhookEndpointCommand,
    { by, workspaceId, intent, fresh = false }: EndpointContext,
  ): Promise<EndpointOutcome> {
    return this.executor.execute(
      endpointId,
      command,
      { intent: intent ?? `${command.type}|${by.correlationId}`, by, workspaceId, at: this.clock.now() },
      { fresh },
    );
  }

  /** What was decided on an endpoint's stream, or why it was refused. */
  async decide(
    endpointId: string,
    command: WebhookEndpointCommand,
    context: EndpointContext,
  ): Promise<Decided | RefusedByEndpoint> {
    const outcome = await this.execute(endpointId, command, context);
    if (outcome.kind === 'rejected') return { outcome: REFUSALS[outcome.code] };
    const events = outcome.kind === 'accepted' ? outcome.events : [];
    return { outcome: 'decided', state: outcome.state, events };
  }

  /** An endpoint as the log has it now. Of one that the executor keeps, only what came since is read. */
  async load(endpointId: string): Promise<WebhookEndpoint> {
    return (await this.executor.load(endpointId)).state;
  }

  /** RFC 3339: until when the secret before this one signs too; `null` when none was replaced by it. */
  async overlapOf(endpointId: string, secretRef: string): Promise<string | null> {
    for await (const { type, data } of this.events(endpointId))
      if (type === 'WebhookEndpointSecretRotated' && data.secretRef === secretRef)
        return data.previousValidUntil;
    return null;
  }

  /** Folds a stream. Its times are those of its first and last event, empty when there is none. */
  async read(
    endpointId: string,
  ): Promise<{ state: WebhookEndpoint; times: { createdAt: string; updatedAt: string } }> {
    let state = webhookEndpoint.initialState;
    let times = { createdAt: '', updatedAt: '' };
    for await (const event of this.events(endpointId)) {
      const { occurredAt } = event.metadata;
      state = webhookEndpoint.evolve(state, event);
      times = { createdAt: times.createdAt || occurredAt, updatedAt: occurredAt };
    }
    return { state, times };
  }

  private async *events(endpointId: string) {
    for await (const stored of this.store.read(streamName(webhookEndpointEvents.category, endpointId)))
      if (!isSetAside(stored)) yield decode(webhookEndpointEvents, stored);
  }
}

interface Decided {
  readonly outcome: 'decided';
  readonly state: WebhookEndpoint;
  readonly events: readonly Recorded[];
}

const REFUSALS = {
  EndpointNotFound: 'webhook_not_found',
  ModeNotAllowed: 'mode_not_allowed',
  RevisionMismatch: 'endpoint_changed',
} as const satisfies Record<WebhookEndpointRejection['code'], RefusedByEndpoint['outcome']>;
