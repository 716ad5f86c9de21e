import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { MODES, type Mode } from '#event-sourcing/core/mode.js';
import { drawUuid } from '#platform/crypto/draw.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import {
  CreateWebhookEndpoint,
  type CreatedWebhookEndpoint,
  type CreateEndpointResult,
} from '../contracts/endpoints.js';
import { PUBLIC_EVENT_TYPES } from '../contracts/events.js';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.decider.js';
import { EndpointRows } from '../read-models/endpoints.js';
import { HeaderVault, SecretVault, type NewSecret } from './vaults.js';
import { recordOf, urlRefusal, KnownHosts } from './endpoint-access.js';
import { EndpointStreams } from './endpoint-streams.js';
import type { Config } from '../settings.js';

/** How long an endpoint whose event is not projected yet counts towards the limit. */
const CLAIM_SECONDS = 60;

@CommandHandler(CreateWebhookEndpoint)
export class CreateWebhookEndpointHandler implements ICommandHandler<CreateWebhookEndpoint> {
  constructor(
    private readonly vault: SecretVault,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
    private readonly headers: HeaderVault,
    private readonly hosts: KnownHosts,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(command: CreateWebhookEndpoint): Promise<CreateEndpointResult> {
    const { workspaceId, choice, by } = command;
    const { url, modes, notices = [], description = null, headers = {}, maxPerSecond = null } = choice;
    const endpointId = `we_${drawUuid(by, 'webhook-endpoint')}`;
    const secret = this.vault.generate(endpointId, by);
    // Whatever refuses a repeat of the request now, its endpoint exists if the first attempt made it.
    const made = by.seed && (await this.made(endpointId, secret));
    if (made) return { outcome: 'created', endpoint: made };
    const refusal = urlRefusal(url, this.config);
    if (refusal) return refusal;
    const events = choice.events ?? PUBLIC_EVENT_TYPES;
    if (!(await this.claimSlot(endpointId, workspaceId, { secret, modes }))) {
      return { outcome: 'endpoint_limit_reached', limit: this.config.WEBHOOK_ENDPOINTS_PER_WORKSPACE };
    }
    const at = instant(this.clock.now());
    const { ref: headersRef } = await this.headers.store(headers, { endpointId, workspaceId, at });
    const verified = await this.hosts.needsNoProbe(workspaceId, url);
    const outcome = await this.streams.execute(
      endpointId,
      {
        type: 'CreateEndpoint',
        workspaceId,
        url: new URL(url).href,
        events,
        modes,
        notices,
        description,
        headersRef,
        maxPerSecond,
        verified,
        secretRef: secret.ref,
      },
      { by, workspaceId, intent: 'create', fresh: true },
    );
    if (outcome.kind === 'rejected') throw new TypeError('A new endpoint was rejected');
    const endpoint =
      outcome.kind === 'accepted'
        ? await this.shown(endpointId, secret, outcome.state, outcome.events[0]!.metadata.occurredAt)
        : // Another attempt at the same request was still running, and has made it.
          (await this.made(endpointId, secret))!;
    return { outcome: 'created', endpoint };
  }

  /** The endpoint that an earlier attempt at the request made, as it is by now. */
  private async made(endpointId: string, secret: NewSecret): Promise<CreatedWebhookEndpoint | null> {
    const { state, times } = await this.streams.read(endpointId);
    return state.existence === 'none' ? null : this.shown(endpointId, secret, state, times.createdAt);
  }

  private async shown(
    endpointId: string,
    { secret, hint }: NewSecret,
    state: WebhookEndpoint,
    createdAt: string,
  ): Promise<CreatedWebhookEndpoint> {
    await this.rows.waitFor(endpointId, state.revision);
    const record = recordOf(endpointId, state, {
      createdAt,
      updatedAt: createdAt,
      consecutiveFailures: 0,
      failingSince: null,
      secretHint: hint,
      headerNames: await this.headers.names(state.headersRef),
    });
    return { ...record, signingSecret: secret };
  }

  /** One lock per workspace; a repeat has the slot of its first attempt; each mode has its own. @returns false: none is free */
  private claimSlot(
    endpointId: string,
    workspaceId: string,
    { secret, modes }: { readonly secret: NewSecret; readonly modes: readonly Mode[] },
  ): Promise<boolean> {
    return transaction(this.pool, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `webhooks|${workspaceId}`,
      ]);
      const { rows } = await client.query<{ all: number; taken: number }>(
        `select count(distinct secret.endpoint_id)::integer as all,
                count(distinct secret.endpoint_id)
                  filter (where endpoint.endpoint_id is null or endpoint.modes && $5::text[])::integer as taken
         from webhooks.secret left join webhooks.endpoint using (endpoint_id)
         where secret.workspace_id = $1 and secret.endpoint_id <> $4
           and case when endpoint.endpoint_id is null then secret.created_at > $2::timestamptz - $3 * interval '1 second'
                    else endpoint.deleted_at is null end`,
        [workspaceId, instant(this.clock.now()), CLAIM_SECONDS, endpointId, modes],
      );
      const { WEBHOOK_ENDPOINTS_PER_WORKSPACE: most } = this.config;
      const { all, taken } = rows[0]!;
      if (taken >= most || all >= MODES.length * most) return false;
      await this.vault.store(secret, { endpointId, workspaceId, at: instant(this.clock.now()) }, client);
      return true;
    });
  }
}
