import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { POSTGRES, transaction } from '@app/platform/postgres/pool.js';
import { CLOCK, CONFIG } from '@app/platform/tokens.js';
import { CreateWebhookEndpoint, type CreateEndpointResult } from '../../contracts/commands.js';
import { PUBLIC_EVENT_TYPES } from '../../contracts/event-types.js';
import { EndpointRows } from '../../read-models/endpoint/endpoint-rows.js';
import { HeaderVault } from '../custom-headers/header-vault.js';
import { recordOf } from '../endpoint-access.js';
import { EndpointStreams } from '../endpoint-streams.js';
import { SecretVault, type NewSecret } from '../secrets/secret-vault.js';
import { UrlCheck } from '../url-check.js';
import { KnownHosts } from '../verification/known-hosts.js';
import type { Config } from '../../settings.js';

/** How long an endpoint whose event is not projected yet counts towards the limit. */
const CLAIM_SECONDS = 60;

@CommandHandler(CreateWebhookEndpoint)
export class CreateWebhookEndpointHandler implements ICommandHandler<CreateWebhookEndpoint> {
  constructor(
    private readonly urls: UrlCheck,
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
    const checked = await this.urls.check(url);
    if (checked.outcome !== 'usable') return checked;
    const endpointId = `we_${randomUUID()}`;
    const events = choice.events ?? PUBLIC_EVENT_TYPES;
    const secret = this.vault.generate(endpointId);
    if (!(await this.claimPlace(endpointId, workspaceId, secret))) {
      return { outcome: 'endpoint_limit_reached', limit: this.config.WEBHOOK_ENDPOINTS_PER_WORKSPACE };
    }
    const at = instant(this.clock.now());
    const { ref: headersRef, names: headerNames } = await this.headers.store(headers, {
      endpointId,
      workspaceId,
      at,
    });
    const verified = await this.hosts.needsNoProbe(workspaceId, url);
    const outcome = await this.streams.execute(
      endpointId,
      {
        type: 'CreateEndpoint',
        workspaceId,
        url,
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
    if (outcome.kind !== 'accepted') throw new TypeError(`A new endpoint was ${outcome.kind}`);
    const [created] = outcome.events;
    await this.rows.waitFor(endpointId, created!.revision);
    const createdAt = created!.metadata.occurredAt;
    const none = { consecutiveFailures: 0, failingSince: null };
    const times = { createdAt, updatedAt: createdAt };
    const shown = { secretHint: secret.hint, headerNames };
    const record = recordOf(endpointId, outcome.state, { ...times, ...none, ...shown });
    const { warnings } = checked;
    return { outcome: 'created', endpoint: { ...record, signingSecret: secret.secret, warnings } };
  }

  /**
   * Counts and stores the secret under one lock per workspace, so that concurrent requests cannot pass the limit.
   * @returns whether there is a place; without one, stores nothing
   */
  private claimPlace(endpointId: string, workspaceId: string, secret: NewSecret): Promise<boolean> {
    return transaction(this.pool, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `webhooks|${workspaceId}`,
      ]);
      const { rows } = await client.query<{ taken: number }>(
        `select count(distinct secret.endpoint_id)::integer as taken
         from webhooks.secret left join webhooks.endpoint using (endpoint_id)
         where secret.workspace_id = $1
           and case when endpoint.endpoint_id is null then secret.created_at > $2::timestamptz - $3 * interval '1 second'
                    else endpoint.deleted_at is null end`,
        [workspaceId, instant(this.clock.now()), CLAIM_SECONDS],
      );
      if (rows[0]!.taken >= this.config.WEBHOOK_ENDPOINTS_PER_WORKSPACE) return false;
      await this.vault.store(secret, { endpointId, workspaceId, at: instant(this.clock.now()) }, client);
      return true;
    });
  }
}
