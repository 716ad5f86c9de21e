import { Inject, Injectable } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import {
  EnableWebhookEndpoint,
  type EnabledWebhookEndpoint,
  type WebhookEndpointRecord,
} from '../contracts/endpoints.js';
import type { ChangeRefusal, EndpointRefusal, RefusedByEndpoint } from '../contracts/refusals.js';
import { MOST_HEADERS, mergeHeaders, namesAll, type HeadersPatch } from '../domain/custom-headers.js';
import { leadsElsewhere, type EndpointChanges } from '../domain/webhook-endpoint.decider.js';
import { DeliveryRows } from '../read-models/deliveries.js';
import { EndpointRows } from '../read-models/endpoints.js';
import type { Config } from '../settings.js';
import { EndpointAccess, KnownHosts, recordOf, urlRefusal } from './endpoint-access.js';
import { EndpointStreams } from './endpoint-streams.js';
import { HeaderVault, SecretVault } from './vaults.js';

export interface ChangedEndpoint {
  readonly outcome: 'changed';
  readonly record: WebhookEndpointRecord;
  readonly revision: bigint;
  /** Deliveries skipped while the endpoint was disabled; `null` unless it was enabled now. */
  readonly skippedDeliveries: number | null;
}

/** What an owner may change. An omitted field stays unchanged; `headers` are merged. */
export interface AskedChanges extends Omit<EndpointChanges, 'headersRef' | 'verified'> {
  readonly headers?: HeadersPatch;
}

export interface RotatedSecret {
  readonly outcome: 'rotated';
  readonly record: WebhookEndpointRecord;
  readonly revision: bigint;
  /** Shown only this once. */
  readonly signingSecret: string;
  /** RFC 3339: the previous secret signs too until then. */
  readonly previousValidUntil: string;
}

/** Changes endpoints of a workspace. `ifRevision`: revisions at which the caller allows the change; `null`: any. */
@Injectable()
export class EndpointCommands {
  constructor(
    private readonly access: EndpointAccess,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
    private readonly deliveries: DeliveryRows,
    private readonly vault: SecretVault,
    private readonly headers: HeaderVault,
    private readonly hosts: KnownHosts,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async change(
    endpointId: string,
    workspaceId: string,
    { headers, ...settings }: AskedChanges,
    ifRevision: readonly bigint[] | null,
    by: RequestContext,
  ): Promise<ChangedEndpoint | ChangeRefusal> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const before = known.record;
    let changes: EndpointChanges = settings;
    let allowed = ifRevision;
    if (settings.url !== undefined) {
      const refusal = settings.url === before.url ? null : urlRefusal(settings.url, this.config);
      if (refusal) return refusal;
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
      allowed = allowed?.filter((one) => one === current.revision) ?? [current.revision];
    }
    const skipped = changes.enabled === true ? await this.deliveries.countSkipped(endpointId) : 0;
    const decision = await this.streams.decide(
      endpointId,
      { type: 'ChangeEndpoint', changes, ifRevision: allowed },
      { by, workspaceId },
    );
    if (decision.outcome === 'endpoint_changed' && ifRevision === null)
      return this.change(endpointId, workspaceId, { headers, ...settings }, ifRevision, by);
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

  async delete(
    endpointId: string,
    workspaceId: string,
    ifRevision: readonly bigint[] | null,
    by: RequestContext,
  ): Promise<{ readonly outcome: 'deleted' } | RefusedByEndpoint> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const command = { type: 'DeleteEndpoint', ifRevision } as const;
    const decision = await this.streams.decide(endpointId, command, { by, workspaceId });
    if (decision.outcome !== 'decided') return decision;
    await this.rows.waitFor(endpointId, decision.state.revision);
    return { outcome: 'deleted' };
  }

  async rotate(
    endpointId: string,
    workspaceId: string,
    overlapSeconds: number,
    by: RequestContext,
  ): Promise<RotatedSecret | RefusedByEndpoint> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const { record } = known;
    const at = this.clock.now();
    const secret = this.vault.generate(endpointId, by);
    await this.vault.store(secret, { endpointId, workspaceId, at: instant(at) });
    const command = { type: 'RotateSecret', secretRef: secret.ref, at, overlapSeconds } as const;
    const decision = await this.streams.decide(endpointId, command, { by, workspaceId });
    if (decision.outcome !== 'decided') return decision;
    const { state, events } = decision;
    const isRepeated = events.length === 0;
    await this.rows.waitFor(endpointId, state.revision);
    return {
      outcome: 'rotated',
      record: {
        ...record,
        updatedAt: events.at(-1)?.metadata.occurredAt ?? record.updatedAt,
        secretHint: secret.hint,
      },
      revision: state.revision,
      signingSecret: secret.secret,
      previousValidUntil:
        (isRepeated && (await this.streams.overlapOf(endpointId, secret.ref))) ||
        instant(at + overlapSeconds * 1_000),
    };
  }

  /** Has an endpoint that waits for its verification probed at once, or when its receiver has had a minute's rest. */
  async probe(
    endpointId: string,
    workspaceId: string,
  ): Promise<{ readonly outcome: 'asked'; readonly record: WebhookEndpointRecord } | EndpointRefusal> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    await this.pool.query(
      'update webhooks.verification set due_at = least(due_at, $2) where endpoint_id = $1',
      [endpointId, instant(this.clock.now())],
    );
    return { outcome: 'asked', record: known.record };
  }
}

@CommandHandler(EnableWebhookEndpoint)
export class EnableWebhookEndpointHandler implements ICommandHandler<EnableWebhookEndpoint> {
  constructor(private readonly endpoints: EndpointCommands) {}

  async execute(command: EnableWebhookEndpoint): Promise<EnabledWebhookEndpoint | ChangeRefusal> {
    const { endpointId, workspaceId, by } = command;
    const changed = await this.endpoints.change(endpointId, workspaceId, { enabled: true }, null, by);
    if (changed.outcome !== 'changed') return changed;
    const { record, skippedDeliveries } = changed;
    return { outcome: 'enabled', record, skippedDeliveries };
  }
}
