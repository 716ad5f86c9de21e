import { Inject, Injectable } from '@nestjs/common';
import { CommandExecutor, type Outcome } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, EVENT_STORE, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside } from '#event-sourcing/core/event.js';
import { type RequestContext, type Mode, MODES } from '#event-sourcing/core/request-context.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { CLOCK, CONFIG } from '#platform/tokens.js';
import {
  webhookEndpointEvents,
  type WebhookEndpointEvent,
  EnableWebhookEndpoint,
  PUBLIC_EVENT_TYPES,
  type WebhookRefusal,
  type PublicEventType,
} from '../contracts/index.js';
import {
  webhookEndpoint,
  type WebhookEndpointCommand,
  type WebhookEndpointRejection,
  type WebhookEndpoint,
  refusalTo,
  type EndpointChanges,
} from '../domain/webhook-endpoint.decider.js';
import { setTimeout as delay } from 'node:timers/promises';
import { findEndpoint, projectedEndpoint, type EndpointRow } from '../read-models/endpoints.js';
import { type Asker, withAdvisoryLock, serialized } from './serialized.js';
import { HeaderVault, SecretVault, type NewSecret } from './vaults.js';
import { checkWebhookUrl, type UrlPolicy, hostOfUrl, ranges } from '../domain/webhook-url.js';
import type { Config } from '../settings.js';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { drawUuid } from '#platform/crypto/draw.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import {
  MAX_HEADERS,
  mergeHeaders,
  namesAll,
  type HeadersPatch,
  type CustomHeaders,
} from '../domain/custom-headers.js';
import { endpoints } from '../projections.js';

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
  async decide(endpointId: string, command: WebhookEndpointCommand, context: EndpointContext) {
    const outcome = await this.execute(endpointId, command, context);
    if (outcome.kind === 'rejected') return { outcome: REFUSALS[outcome.code] };
    const events = outcome.kind === 'accepted' ? outcome.events : [];
    return { outcome: 'decided', state: outcome.state, events } as const;
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

  async *events(endpointId: string) {
    for await (const stored of this.store.read(streamName(webhookEndpointEvents.category, endpointId)))
      if (!isSetAside(stored)) yield decode(webhookEndpointEvents, stored);
  }
}

const REFUSALS = {
  EndpointNotFound: 'webhook_not_found',
  ModeNotAllowed: 'mode_not_allowed',
  RevisionMismatch: 'endpoint_changed',
} as const satisfies Record<WebhookEndpointRejection['code'], WebhookRefusal['outcome']>;

/** The caller of a command, and the modes that it sees. */
export interface EndpointOwner extends Asker {
  readonly sees: readonly Mode[];
}

const ENDPOINT_ID = /^we_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const OWN_PROJECTION_MS = 750;
const OWN_PROJECTION_POLL_MS = 15;

export const urlPolicy = (config: Config): UrlPolicy => ({
  allowHttp: config.WEBHOOK_ALLOW_HTTP,
  allowCidrs: ranges(...config.WEBHOOK_ALLOW_CIDRS),
});

/** Why a URL is no webhook URL. Judges its text alone: resolving a name here would tell the caller which names exist inside. */
const urlRefusal = (text: string, config: Config) => {
  const verdict = checkWebhookUrl(text, urlPolicy(config));
  return verdict.ok ? null : { outcome: verdict.code, detail: verdict.detail };
};

/** How long an endpoint whose event is not projected yet counts towards the limit. */
const CLAIM_SECONDS = 60;

/** What an owner may change. An omitted field stays unchanged; `headers` are merged. */
export interface AskedChanges extends Omit<EndpointChanges, 'headersRef' | 'verified'> {
  readonly headers?: HeadersPatch;
}

/** Webhook endpoints of a workspace for each mode, live and test: each event costs a delivery for each. */
const ENDPOINTS_PER_WORKSPACE = 16;

/** Attempts at one change, each after another process had changed the endpoint. */
const CHANGE_ATTEMPTS = 5;

/** Most skipped deliveries counted when an endpoint is enabled. */
const MAX_SKIPPED = 100_000;

/**
 * Deliveries skipped since the endpoint was disabled, and those still to be. Stops at `MAX_SKIPPED`: nobody waits for
 * millions. Of the history, reads the weeks since.
 */
export const countSkipped = async (pool: pg.Pool, endpointId: string): Promise<number> => {
  const { rows } = await pool.query<{ skipped: number }>(
    `select count(*)::integer as skipped from (
       select from webhooks.settled_delivery
       where endpoint_id = $1 and status <> 'succeeded' and status = 'skipped' and not test and not redelivery
         and settled_at >= (select disabled_at from webhooks.endpoint where endpoint_id = $1)
       union all
       select from webhooks.delivery
       where endpoint_id = $1 and status = 'pending' and not test and not redelivery
         and added <= (select max(up_to) from webhooks.skipping where endpoint_id = $1)
       limit ${MAX_SKIPPED}
     ) of_events`,
    [endpointId],
  );
  return rows[0]!.skipped;
};

/** Whether a URL leads to another scheme, host or port. */
const leadsElsewhere = (url: string, before: string): boolean =>
  new URL(url).origin !== new URL(before).origin;

/** What a new endpoint is to receive, and how. `events`: `null` subscribes to all. `headers`: values by name; stored sealed. */
interface EndpointChoice extends Pick<EndpointChanges, 'notices' | 'description' | 'maxPerSecond'> {
  readonly url: string;
  readonly events?: readonly PublicEventType[] | null;
  readonly modes: readonly Mode[];
  readonly headers?: CustomHeaders | null;
}

const distinct = <T>(types: readonly T[]): readonly T[] => [...new Set(types)];

/** The endpoints of workspaces: finds and changes them. `ifRevision`: revisions at which the caller allows the change; `null`: any. */
@Injectable()
export class Endpoints {
  constructor(
    private readonly streams: EndpointStreams,
    private readonly vault: SecretVault,
    private readonly headers: HeaderVault,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The endpoint from its row, or from its stream when the row is not there yet. */
  async find(endpointId: string, workspaceId: string) {
    if (!ENDPOINT_ID.test(endpointId)) return { outcome: 'webhook_not_found' } as const;
    const found = (await findEndpoint(this.pool, endpointId)) ?? (await this.fromStream(endpointId));
    if (!found || found.deleted) return { outcome: 'webhook_not_found' } as const;
    if (found.workspaceId !== workspaceId) return { outcome: 'wrong_workspace' } as const;
    return { outcome: 'found', record: found.record, revision: found.revision } as const;
  }

  /** As `find`, for a command that no stream decides: the caller is judged by the endpoint's stream, as the row may lag. */
  async findFor(endpointId: string, { workspaceId, sees }: EndpointOwner) {
    const known = await this.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const refusal = refusalTo(sees, await this.streams.load(endpointId));
    return refusal === 'EndpointNotFound'
      ? ({ outcome: 'webhook_not_found' } as const)
      : { ...known, mayChange: refusal === null };
  }

  /** The endpoint as of a change that was made now: from its row once that has it, or else from its stream after a short wait. */
  private async changed(endpointId: string, revision: bigint): Promise<EndpointRow> {
    const givesUpAt = performance.now() + OWN_PROJECTION_MS;
    while (performance.now() < givesUpAt) {
      const row = await findEndpoint(this.pool, endpointId);
      if (row && row.revision >= revision) return row;
      await delay(OWN_PROJECTION_POLL_MS);
    }
    return (await this.fromStream(endpointId))!;
  }

  private async fromStream(endpointId: string): Promise<EndpointRow | null> {
    let row: Readonly<Record<string, unknown>> | null = null;
    for await (const event of this.streams.events(endpointId)) row = endpoints.evolve(row, event);
    return row && projectedEndpoint(this.pool, row);
  }

  async create(asker: Asker, choice: EndpointChoice, by: RequestContext) {
    const { workspaceId } = asker;
    const { url, modes, description = null, headers, maxPerSecond = null } = choice;
    const endpointId = `we_${drawUuid(by, 'webhook-endpoint')}`;
    const secret = this.vault.generate(endpointId, by);
    // Whatever refuses a repeat of the request now, its endpoint exists if the first attempt made it.
    const made = by.seed && (await this.made(endpointId, secret));
    if (made) return made;
    const refusal = urlRefusal(url, this.config);
    if (refusal) return refusal;
    if (!(await this.claimSlot(endpointId, asker, { secret, modes })))
      return { outcome: 'endpoint_limit_reached', limit: ENDPOINTS_PER_WORKSPACE } as const;
    const at = instant(this.clock.now());
    const headersRef = await this.headers.store(headers ?? {}, { endpointId, workspaceId, at });
    const verified = await this.needsNoProbe(workspaceId, url);
    const events = distinct(choice.events ?? PUBLIC_EVENT_TYPES);
    const notices = distinct(choice.notices ?? []);
    const settings = {
      url: new URL(url).href,
      events,
      modes,
      notices,
      description,
      headersRef,
      maxPerSecond,
    };
    const outcome = await this.streams.execute(
      endpointId,
      { type: 'CreateEndpoint', workspaceId, ...settings, verified, secretRef: secret.ref },
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
  ) {
    // Those at once would each seal and store headers, and all but one of them again.
    const decided = await serialized(owner.workspaceId, owner.stands, async () => {
      for (let attempt = 0; attempt < CHANGE_ATTEMPTS; attempt += 1) {
        const result = await this.decideChange(endpointId, owner, changes, ifRevision, by);
        if (result.outcome !== 'endpoint_changed' || ifRevision !== null) return result;
      }
      throw new StoreUnavailable(`Endpoint ${endpointId} keeps changing`, false);
    });
    if (decided.outcome !== 'decided') return decided;
    const { record, revision } = await this.changed(endpointId, decided.revision);
    return { outcome: 'changed', record, revision, skippedDeliveries: decided.skippedDeliveries } as const;
  }

  /** @returns `skippedDeliveries` while the endpoint was disabled; `null` unless it was enabled now */
  private async decideChange(
    endpointId: string,
    owner: EndpointOwner,
    { headers, ...settings }: AskedChanges,
    ifRevision: readonly bigint[] | null,
    by: RequestContext,
  ) {
    const { workspaceId, sees } = owner;
    const known = await this.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const before = known.record;
    const { events, notices } = settings;
    let changes: { -readonly [Name in keyof EndpointChanges]: EndpointChanges[Name] } = {
      ...settings,
      ...(events && { events: distinct(events) }),
      ...(notices && { notices: distinct(notices) }),
    };
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
        return { outcome: 'headers_required' } as const;
      if (headers !== undefined) {
        const merged = mergeHeaders(sealed, headers);
        if (Object.keys(merged).length > MAX_HEADERS)
          return { outcome: 'too_many_headers', limit: MAX_HEADERS } as const;
        const at = instant(this.clock.now());
        changes.headersRef = await this.headers.store(merged, { endpointId, workspaceId, at });
      }
      // Another revision may have another URL, or other headers.
      allowed = allowed?.filter((one) => one === current.revision) ?? [current.revision];
    }
    const isResumed = changes.enabled === true && !before.enabled;
    const skipped = isResumed ? await countSkipped(this.pool, endpointId) : 0;
    const decision = await this.streams.decide(
      endpointId,
      { type: 'ChangeEndpoint', sees, changes, ifRevision: allowed },
      { by, workspaceId },
    );
    if (decision.outcome !== 'decided') return decision;
    const enabledAgain = decision.events.some(({ type }) => type === 'WebhookEndpointEnabled');
    const { revision } = decision.state;
    return { outcome: 'decided', revision, skippedDeliveries: enabledAgain ? skipped : null } as const;
  }

  async delete(
    endpointId: string,
    { workspaceId, sees }: EndpointOwner,
    ifRevision: readonly bigint[] | null,
    by: RequestContext,
  ) {
    const known = await this.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const command = { type: 'DeleteEndpoint', sees, ifRevision } as const;
    const decision = await this.streams.decide(endpointId, command, { by, workspaceId });
    if (decision.outcome !== 'decided') return decision;
    await this.changed(endpointId, decision.state.revision);
    return { outcome: 'deleted' } as const;
  }

  /** @returns `signingSecret`, which nobody can read again, and until when (RFC 3339) the one before signs too */
  async rotate(
    endpointId: string,
    { workspaceId, sees }: EndpointOwner,
    overlapSeconds: number,
    by: RequestContext,
  ) {
    const known = await this.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const at = this.clock.now();
    const secret = this.vault.generate(endpointId, by);
    await this.vault.store(secret, { endpointId, workspaceId, at: instant(at) });
    const command = { type: 'RotateSecret', sees, secretRef: secret.ref, at, overlapSeconds } as const;
    const decision = await this.streams.decide(endpointId, command, { by, workspaceId });
    if (decision.outcome !== 'decided') return decision;
    const isRepeated = decision.events.length === 0;
    const { record, revision } = await this.changed(endpointId, decision.state.revision);
    const previousValidUntil =
      (isRepeated && (await this.streams.overlapOf(endpointId, secret.ref))) ||
      instant(at + overlapSeconds * 1_000);
    return {
      outcome: 'rotated',
      record,
      revision,
      signingSecret: secret.secret,
      previousValidUntil,
    } as const;
  }

  /** Has an endpoint that waits for its verification probed at once, or when its receiver has had a minute's rest. */
  async probe(endpointId: string, owner: EndpointOwner) {
    const known = await this.findFor(endpointId, owner);
    if (known.outcome !== 'found') return known;
    if (!known.mayChange) return { outcome: 'mode_not_allowed' } as const;
    await this.pool.query(
      'update webhooks.verification set due_at = least(due_at, $2) where endpoint_id = $1',
      [endpointId, instant(this.clock.now())],
    );
    return { outcome: 'asked', record: known.record } as const;
  }

  /** The endpoint that this or an earlier attempt at the request made, as it is by now; `null`: none. */
  private async made(endpointId: string, { secret: signingSecret }: NewSecret) {
    const { existence, revision } = await this.streams.load(endpointId);
    if (existence === 'none') return null;
    const { record } = await this.changed(endpointId, revision);
    return { outcome: 'created', endpoint: { ...record, signingSecret } } as const;
  }

  /** One lock per workspace; a repeat has the slot of its first attempt; each mode has its own. @returns false: none is free */
  private claimSlot(
    endpointId: string,
    asker: Asker,
    { secret, modes }: { readonly secret: NewSecret; readonly modes: readonly Mode[] },
  ): Promise<boolean> {
    const { workspaceId } = asker;
    return withAdvisoryLock(this.pool, asker, workspaceId, async (client) => {
      const { rows } = await client.query<{ all: number; taken: number }>(
        // A workspace may have deleted many endpoints: none of them is read.
        `select count(*)::integer as all, count(*) filter (where modes is null or modes && $5::text[])::integer as taken
         from (select endpoint_id, modes from webhooks.endpoint where workspace_id = $1 and deleted_at is null
               union all
               select distinct endpoint_id, null::text[] from webhooks.secret
               where workspace_id = $1 and created_at > $2::timestamptz - $3 * interval '1 second'
                 and not exists (select from webhooks.endpoint where endpoint.endpoint_id = secret.endpoint_id)) as slot
         where endpoint_id <> $4`,
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
  constructor(private readonly endpoints: Endpoints) {}

  async execute({ endpointId, workspaceId, by }: EnableWebhookEndpoint) {
    const operator = { workspaceId, sees: MODES };
    return this.endpoints.change(endpointId, operator, { enabled: true }, null, by);
  }
}
