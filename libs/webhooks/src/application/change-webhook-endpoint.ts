import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler, CommandBus } from '@nestjs/cqrs';
import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import {
  type WebhookEndpointRecord,
  EnableWebhookEndpoint,
  type EnabledWebhookEndpoint,
} from '../contracts/endpoints.js';
import type { ChangeRefusal } from '../contracts/refusals.js';
import { type HeadersPatch, MOST_HEADERS, mergeHeaders, namesAll } from '../domain/custom-headers.js';
import { type EndpointChanges, leadsElsewhere } from '../domain/webhook-endpoint.decider.js';
import { DeliveryRows } from '../read-models/deliveries.js';
import { EndpointRows } from '../read-models/endpoints.js';
import { HeaderVault } from './vaults.js';
import { decided, EndpointStreams } from './endpoint-streams.js';
import { EndpointAccess, recordOf, urlRefusal, KnownHosts } from './endpoint-access.js';
import type { Config } from '../settings.js';

export interface ChangedEndpoint {
  readonly outcome: 'changed';
  readonly record: WebhookEndpointRecord;
  readonly revision: bigint;
  /** Deliveries skipped while the endpoint was disabled; `null` unless it was enabled now. */
  readonly skippedDeliveries: number | null;
}

/** What an owner may change. An omitted member stays unchanged; `headers` are merged. */
export interface AskedChanges extends Omit<EndpointChanges, 'headersRef' | 'verified'> {
  readonly headers?: HeadersPatch;
}

/** Changes an endpoint's settings. */
export class ChangeWebhookEndpoint extends Command<ChangedEndpoint | ChangeRefusal> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly changes: AskedChanges,
    /** Revisions at which the caller allows the change; `null`: any. */
    readonly ifRevision: readonly bigint[] | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}

@CommandHandler(ChangeWebhookEndpoint)
export class ChangeWebhookEndpointHandler implements ICommandHandler<ChangeWebhookEndpoint> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
    private readonly deliveries: DeliveryRows,
    private readonly headers: HeaderVault,
    private readonly hosts: KnownHosts,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(command: ChangeWebhookEndpoint): Promise<ChangedEndpoint | ChangeRefusal> {
    const { endpointId, workspaceId, changes: asked, by } = command;
    let { ifRevision } = command;
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const before = known.record;
    const { headers, ...settings } = asked;
    let changes: EndpointChanges = settings;
    if (settings.url !== undefined) {
      if (settings.url !== before.url) {
        const refusal = urlRefusal(settings.url, this.config);
        if (refusal) return refusal;
      }
      // Also of the URL that the row has: a change that is not in the row yet may have replaced it.
      const verified = await this.hosts.needsNoProbe(workspaceId, settings.url);
      changes = { ...changes, url: new URL(settings.url).href, verified };
    }
    let { headerNames } = before;
    if (headers !== undefined) {
      const current = await this.streams.load(endpointId);
      const sealed = headers === null ? {} : await this.headers.open(endpointId, current.headersRef);
      // Those that are not named would follow the URL to another receiver.
      if (changes.url !== undefined && leadsElsewhere(changes.url, current) && !namesAll(headers, sealed))
        return { outcome: 'headers_required' };
      const merged = mergeHeaders(sealed, headers);
      if (Object.keys(merged).length > MOST_HEADERS)
        return { outcome: 'too_many_headers', limit: MOST_HEADERS };
      const at = instant(this.clock.now());
      const stored = await this.headers.store(merged, { endpointId, workspaceId, at });
      headerNames = stored.names;
      changes = { ...changes, headersRef: stored.ref };
      // Another revision may have other headers.
      ifRevision = ifRevision?.filter((one) => one === current.revision) ?? [current.revision];
    }
    const skipped = changes.enabled === true ? await this.deliveries.countSkipped(endpointId) : 0;
    const decision = decided(
      await this.streams.execute(
        endpointId,
        { type: 'ChangeEndpoint', changes, ifRevision },
        { by, workspaceId },
      ),
    );
    if (decision.outcome === 'endpoint_changed' && command.ifRevision === null) return this.execute(command);
    if (decision.outcome !== 'decided') return decision;
    const { state, events } = decision;
    const enabledAgain = events.some(({ type }) => type === 'WebhookEndpointEnabled');
    const beginsAnew = enabledAgain || state.url !== before.url;
    if (events.length > 0) await this.rows.waitFor(endpointId, state.revision);
    return {
      outcome: 'changed',
      record: recordOf(endpointId, state, {
        createdAt: before.createdAt,
        updatedAt: events.at(-1)?.metadata.occurredAt ?? before.updatedAt,
        secretHint: before.secretHint,
        headerNames,
        consecutiveFailures: beginsAnew ? 0 : before.health.consecutiveFailures,
        failingSince: beginsAnew ? null : before.health.failingSince,
      }),
      revision: state.revision,
      skippedDeliveries: enabledAgain ? skipped : null,
    };
  }
}

@CommandHandler(EnableWebhookEndpoint)
export class EnableWebhookEndpointHandler implements ICommandHandler<EnableWebhookEndpoint> {
  constructor(private readonly commands: CommandBus) {}

  async execute({
    endpointId,
    workspaceId,
    by,
  }: EnableWebhookEndpoint): Promise<EnabledWebhookEndpoint | ChangeRefusal> {
    const changed = await this.commands.execute(
      new ChangeWebhookEndpoint(endpointId, workspaceId, { enabled: true }, null, by),
    );
    if (changed.outcome !== 'changed') return changed;
    const { record, skippedDeliveries } = changed;
    return { outcome: 'enabled', record, skippedDeliveries };
  }
}
