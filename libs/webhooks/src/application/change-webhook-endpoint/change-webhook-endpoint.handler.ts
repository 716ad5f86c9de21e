import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import { MOST_HEADERS, mergeHeaders, namesAll } from '../../domain/headers/custom-headers.js';
import { leadsElsewhere } from '../../domain/webhook-endpoint/webhook-endpoint.decider.js';
import type { EndpointChanges } from '../../domain/webhook-endpoint/webhook-endpoint.commands.js';
import { DeliveryRows } from '../../read-models/delivery/delivery-rows.js';
import { EndpointRows } from '../../read-models/endpoint/endpoint-rows.js';
import type { ChangeRefusal } from '../../contracts/refusals.js';
import { HeaderVault } from '../custom-headers/header-vault.js';
import { decided } from '../decided.js';
import { EndpointAccess, recordOf } from '../endpoint-access.js';
import { EndpointStreams } from '../endpoint-streams.js';
import { urlRefusal } from '../url-check.js';
import { KnownHosts } from '../verification/known-hosts.js';
import type { Config } from '../../settings.js';
import { ChangeWebhookEndpoint, type ChangedEndpoint } from './change-webhook-endpoint.command.js';

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
