import { Inject, Injectable } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { MODES, type Mode, type RequestContext } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { drawUuid } from '#platform/crypto/draw.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import { LanesFull, Lines } from '#platform/work/lanes.js';
import {
  EnableWebhookEndpoint,
  type CreateEndpointResult,
  type CreatedWebhookEndpoint,
  type EnabledWebhookEndpoint,
  type EndpointChoice,
  type WebhookEndpointRecord,
} from '../contracts/endpoints.js';
import { PUBLIC_EVENT_TYPES } from '../contracts/events.js';
import type {
  ChangeRefusal,
  EndpointRefusal,
  ModeNotAllowed,
  RefusedByEndpoint,
} from '../contracts/refusals.js';
import { MOST_HEADERS, mergeHeaders, namesAll, type HeadersPatch } from '../domain/custom-headers.js';
import type { EndpointChanges } from '../domain/webhook-endpoint.decider.js';
import { hostOfUrl } from '../domain/webhook-url.js';
import { DeliveryRows } from '../read-models/deliveries.js';
import type { Config } from '../settings.js';
import { EndpointAccess, urlRefusal, type EndpointOwner } from './endpoint-access.js';
import { EndpointStreams } from './endpoint-streams.js';
import { HeaderVault, SecretVault, type NewSecret } from './vaults.js';

/** How long an endpoint whose event is not projected yet counts towards the limit. */
const CLAIM_SECONDS = 60;

interface DecidedChange {
  readonly outcome: 'decided';
  readonly revision: bigint;
  /** Deliveries skipped while the endpoint was disabled; `null` unless it was enabled now. */
  readonly skippedDeliveries: number | null;
}

interface ChangedEndpoint extends Omit<DecidedChange, 'outcome'> {
  readonly outcome: 'changed';
  readonly record: WebhookEndpointRecord;
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

/** Webhook endpoints of a workspace for each mode, live and test: each event costs a delivery for each. */
const ENDPOINTS_PER_WORKSPACE = 16;

/** Changes of endpoints of one workspace, under way or waiting in a process: more than its rate limits admit at once. */
const MOST_CHANGES = 100;
/** Attempts at one change, each after another process had changed the endpoint. */
const CHANGE_ATTEMPTS = 5;

/** Whether a URL leads to another scheme, host or port. */
const leadsElsewhere = (url: string, before: string): boolean =>
  new URL(url).origin !== new URL(before).origin;

/** Changes endpoints of a workspace. `ifRevision`: revisions at which the caller allows the change; `null`: any. */
@Injectable()
export class EndpointCommands {
  /** One after another: those at once would each seal and store headers, and all but one of them again. */
  private readonly changes = new Lines(MOST_CHANGES);

  constructor(
    private readonly access: EndpointAccess,
    private readonly streams: EndpointStreams,
    private readonly deliveries: DeliveryRows,
    private readonly vault: SecretVault,
    private readonly headers: HeaderVault,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Creates an endpoint. */
  async create(
    workspaceId: string,
    choice: EndpointChoice,
    by: RequestContext,
  ): Promise<CreateEndpointResult> {
    const { url, modes, notices = [], description = null, headers = {}, maxPerSecond = null } = choice;
    const endpointId = `we_${drawUuid(by, 'webhook-endpoint')}`;
    const secret = this.vault.generate(endpointId, by);
    // Whatever refuses a repeat of the request now, its endpoint exists if the first attempt made it.
    const made = by.seed && (await this.made(endpointId, secret));
    if (made) return made;
    const refusal = urlRefusal(url, this.config);
    if (refusal) return refusal;
    const events = choice.events ?? PUBLIC_EVENT_TYPES;
    if (!(await this.claimSlot(endpointId, workspaceId, { secret, modes }))) {
      return { outcome: 'endpoint_limit_reached', limit: ENDPOINTS_PER_WORKSPACE };
    }
    const at = instant(this.clock.now());
    const headersRef = await this.headers.store(headers, { endpointId, workspaceId, at });
    const verified = await this.needsNoProbe(workspaceId, url);
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
    // If it was ignored, another attempt at the same request was still running, and has made it.
    return (await this.made(endpointId, secret))!;
  }

  /** @throws StoreUnavailable when too many changes of the workspace wait, or other processes keep changing the endpoint */
  async change(
    endpointId: string,
    owner: EndpointOwner,
    changes: AskedChanges,
    ifRevision: readonly bigint[] | null,
    by: RequestContext,
  ): Promise<ChangedEndpoint | ChangeRefusal> {
    const decided = await this.changes
      .run(owner.workspaceId, async () => {
        for (let attempt = 0; attempt < CHANGE_ATTEMPTS; attempt += 1) {
          const result = await this.decideChange(endpointId, owner, changes, ifRevision, by);
          if (result.outcome !== 'endpoint_changed' || ifRevision !== null) return result;
        }
        throw new StoreUnavailable(`Endpoint ${endpointId} keeps changing`, false);
      })
      .catch((error: unknown) => {
        if (!(error instanceof LanesFull)) throw error;
        throw new StoreUnavailable('Too many changes of endpoints of the workspace are waiting', false);
      });
    if (decided.outcome !== 'decided') return decided;
    const { record, revision } = await this.access.changed(endpointId, decided.revision);
    return { outcome: 'changed', record, revision, skippedDeliveries: decided.skippedDeliveries };
  }

  private async decideChange(
    endpointId: string,
    owner: EndpointOwner,
    { headers, ...settings }: AskedChanges,
    ifRevision: readonly bigint[] | null,
    by: RequestContext,
  ): Promise<DecidedChange | ChangeRefusal> {
    const { workspaceId, sees } = owner;
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const before = known.record;
    let changes: { -readonly [Name in keyof EndpointChanges]: EndpointChanges[Name] } = { ...settings };
    let allowed = ifRevision;
    if (settings.url !== undefined) {
      const refusal = settings.url === before.url ? null : urlRefusal(settings.url, this.config);
      if (refusal) return refusal;
      // Also of the URL that the row has: a change that is not in the row yet may have replaced it.
      const verified = await this.needsNoProbe(workspaceId, settings.url);
      changes = { ...changes, url: new URL(settings.url).href, verified };
    }
    if (changes.url !== undefined || headers !== undefined) {
      const current = await this.streams.load(endpointId);
      const sealed = headers === null ? {} : await this.headers.open(endpointId, current.headersRef);
      // Headers may be credentials for one receiver. Those that are not named would follow the URL to another.
      if (changes.url !== undefined && leadsElsewhere(changes.url, current.url) && !namesAll(headers, sealed))
        return { outcome: 'headers_required' };
      if (headers !== undefined) {
        const merged = mergeHeaders(sealed, headers);
        if (Object.keys(merged).length > MOST_HEADERS)
          return { outcome: 'too_many_headers', limit: MOST_HEADERS };
        const at = instant(this.clock.now());
        changes.headersRef = await this.headers.store(merged, { endpointId, workspaceId, at });
      }
      // Another revision may have another URL, or other headers.
      allowed = allowed?.filter((one) => one === current.revision) ?? [current.revision];
    }
    const isResumed = changes.enabled === true && !before.enabled;
    const skipped = isResumed ? await this.deliveries.countSkipped(endpointId) : 0;
    const decision = await this.streams.decide(
      endpointId,
      { type: 'ChangeEndpoint', sees, changes, ifRevision: allowed },
      { by, workspaceId },
    );
    if (decision.outcome !== 'decided') return decision;
    const enabledAgain = decision.events.some(({ type }) => type === 'WebhookEndpointEnabled');
    const { revision } = decision.state;
    return { outcome: 'decided', revision, skippedDeliveries: enabledAgain ? skipped : null };
  }

  async delete(
    endpointId: string,
    { workspaceId, sees }: EndpointOwner,
    ifRevision: readonly bigint[] | null,
    by: RequestContext,
  ): Promise<{ readonly outcome: 'deleted' } | RefusedByEndpoint> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const command = { type: 'DeleteEndpoint', sees, ifRevision } as const;
    const decision = await this.streams.decide(endpointId, command, { by, workspaceId });
    if (decision.outcome !== 'decided') return decision;
    await this.access.changed(endpointId, decision.state.revision);
    return { outcome: 'deleted' };
  }

  async rotate(
    endpointId: string,
    { workspaceId, sees }: EndpointOwner,
    overlapSeconds: number,
    by: RequestContext,
  ): Promise<RotatedSecret | RefusedByEndpoint> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const at = this.clock.now();
    const secret = this.vault.generate(endpointId, by);
    await this.vault.store(secret, { endpointId, workspaceId, at: instant(at) });
    const command = { type: 'RotateSecret', sees, secretRef: secret.ref, at, overlapSeconds } as const;
    const decision = await this.streams.decide(endpointId, command, { by, workspaceId });
    if (decision.outcome !== 'decided') return decision;
    const isRepeated = decision.events.length === 0;
    const { record, revision } = await this.access.changed(endpointId, decision.state.revision);
    return {
      outcome: 'rotated',
      record,
      revision,
      signingSecret: secret.secret,
      previousValidUntil:
        (isRepeated && (await this.streams.overlapOf(endpointId, secret.ref))) ||
        instant(at + overlapSeconds * 1_000),
    };
  }

  /** Has an endpoint that waits for its verification probed at once, or when its receiver has had a minute's rest. */
  async probe(
    endpointId: string,
    owner: EndpointOwner,
  ): Promise<
    { readonly outcome: 'asked'; readonly record: WebhookEndpointRecord } | EndpointRefusal | ModeNotAllowed
  > {
    const known = await this.access.findFor(endpointId, owner);
    if (known.outcome !== 'found') return known;
    if (!known.mayChange) return { outcome: 'mode_not_allowed' };
    await this.pool.query(
      'update webhooks.verification set due_at = least(due_at, $2) where endpoint_id = $1',
      [endpointId, instant(this.clock.now())],
    );
    return { outcome: 'asked', record: known.record };
  }

  /** The endpoint that this or an earlier attempt at the request made, as it is by now; `null`: none. */
  private async made(
    endpointId: string,
    { secret: signingSecret }: NewSecret,
  ): Promise<{ readonly outcome: 'created'; readonly endpoint: CreatedWebhookEndpoint } | null> {
    const { existence, revision } = await this.streams.load(endpointId);
    if (existence === 'none') return null;
    const { record } = await this.access.changed(endpointId, revision);
    return { outcome: 'created', endpoint: { ...record, signingSecret } };
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
      const most = ENDPOINTS_PER_WORKSPACE;
      const { all, taken } = rows[0]!;
      if (taken >= most || all >= MODES.length * most) return false;
      await this.vault.store(secret, { endpointId, workspaceId, at: instant(this.clock.now()) }, client);
      return true;
    });
  }

  /** Whether events may be sent to this URL at once: the workspace sends to its host. */
  private async needsNoProbe(workspaceId: string, url: string): Promise<boolean> {
    if (!this.config.WEBHOOK_VERIFY_ENDPOINTS) return true;
    const text =
      'select url from webhooks.endpoint where workspace_id = $1 and verified and deleted_at is null';
    const { rows } = await this.pool.query<{ url: string }>(text, [workspaceId]);
    const host = hostOfUrl(url);
    return rows.some((known) => hostOfUrl(known.url) === host);
  }
}

@CommandHandler(EnableWebhookEndpoint)
export class EnableWebhookEndpointHandler implements ICommandHandler<EnableWebhookEndpoint> {
  constructor(private readonly endpoints: EndpointCommands) {}

  async execute(command: EnableWebhookEndpoint): Promise<EnabledWebhookEndpoint | ChangeRefusal> {
    const { endpointId, workspaceId, by } = command;
    const operator = { workspaceId, sees: MODES };
    const changed = await this.endpoints.change(endpointId, operator, { enabled: true }, null, by);
    if (changed.outcome !== 'changed') return changed;
    const { record, skippedDeliveries } = changed;
    return { outcome: 'enabled', record, skippedDeliveries };
  }
}
