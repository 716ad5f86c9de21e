import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler, type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { CommandExecutor, type Outcome } from '#event-sourcing/commands/command-executor.js';
import { EVENT_STORE, type EventStore, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { ORDINARY_SCOPES } from '#platform/auth/scopes.js';
import { drawBytes } from '#platform/crypto/draw.js';
import { asRecord } from '#platform/postgres/as-record.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import {
  type ApiKeyTerms,
  ChooseForWorkspace,
  type Chosen,
  type ExpiringKey,
  FindExpiringKeys,
  GetPaper,
  IssueApiKey,
  type IssuedKey,
  type KeyRefusal,
  OpenWorkspace,
  type Paper,
  RevokeApiKey,
  RevokeApiKeyAndIssued,
  RotateApiKey,
  type WorkspaceEvent,
  workspaceEvents,
} from '../contracts/index.js';
import { apiKeyText, base62, makeApiKey, type NewApiKey, RANDOM_BYTES } from '../domain/api-key.js';
import { type Workspace, workspaceDecider, type WorkspaceRejection } from '../domain/workspace.decider.js';
import { ApiKeyQuery } from '../read-models/queries.js';
import { randomBytes } from 'node:crypto';

/** A workspace that issues and revokes many keys needs a cache: only its new events are read again. */
const CACHED_STREAMS = 64;

/** Runs commands on `workspace-<id>` streams, and on no others. */
export const createWorkspaceExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [workspaceEvents.category]),
    workspaceEvents,
    workspaceDecider,
    { cachedStreams: CACHED_STREAMS },
  );

type WorkspaceExecutor = ReturnType<typeof createWorkspaceExecutor>;
export const WORKSPACE_EXECUTOR = Symbol('WorkspaceExecutor');

@CommandHandler(OpenWorkspace)
export class OpenWorkspaceHandler implements ICommandHandler<OpenWorkspace> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ name, by }: OpenWorkspace) {
    const workspaceId = `ws_${base62(randomBytes(RANDOM_BYTES), 22)}`;
    await this.executor.execute(
      workspaceId,
      { type: 'OpenWorkspace', workspaceId, name },
      { intent: 'open', by, workspaceId, at: this.clock.now() },
      { fresh: true },
    );
    return { workspaceId };
  }
}

@CommandHandler(ChooseForWorkspace)
export class ChooseForWorkspaceHandler implements ICommandHandler<ChooseForWorkspace> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, choices, by }: ChooseForWorkspace): Promise<Chosen> {
    const { kind } = await this.executor.execute(
      workspaceId,
      { type: 'Choose', ...choices },
      { intent: `choose:${by.correlationId}`, by, workspaceId, at: this.clock.now() },
    );
    if (kind === 'rejected') return { outcome: 'unknown_workspace' };
    return { outcome: kind === 'accepted' ? 'chosen' : 'unchanged' };
  }
}

@QueryHandler(GetPaper)
export class GetPaperHandler implements IQueryHandler<GetPaper> {
  constructor(@Inject(POSTGRES) private readonly pool: Pick<Pool, 'query'>) {}

  async execute({ workspaceId }: GetPaper): Promise<Paper> {
    // Its row, a moment late: every publication asks, and a workspace may have issued and revoked any number of keys.
    const text = 'select paper from workspaces.workspace where workspace_id = $1';
    const { rows } = await this.pool.query<{ paper: Paper }>(text, [workspaceId]);
    return rows[0]?.paper ?? 'by-locale';
  }
}

type KeyOutcome = Outcome<WorkspaceEvent, Workspace, WorkspaceRejection>;

/** The terms of a new key; `null` when an earlier attempt issued it and it was revoked since. */
const termsOf = ({ state }: KeyOutcome, keyId: string): ApiKeyTerms | null => {
  const key = state.standing.get(keyId);
  if (!key) return null;
  const { endsAt: _, ...terms } = key;
  return terms;
};

const OUTCOMES = {
  WorkspaceNotOpen: 'unknown_workspace',
  UnknownKey: 'unknown_key',
  KeyLimitReached: 'key_limit_reached',
  OwnKeyEnded: 'own_key_ended',
  BeyondCaller: 'beyond_caller',
} as const satisfies Record<WorkspaceRejection['code'], KeyRefusal['outcome']>;

/** What the caller learns of a refusal to issue or rotate a key. */
const refusalOf = ({ code, details }: WorkspaceRejection) =>
  ({ outcome: OUTCOMES[code], ...details }) as KeyRefusal;

/** A new key, the same for a repeat of the same request: only its hash is stored, so nobody could read it back. */
const drawApiKey = (by: Pick<RequestContext, 'seed'>): NewApiKey =>
  makeApiKey({
    id: drawBytes(by, 'api-key-id', RANDOM_BYTES),
    secret: drawBytes(by, 'api-key-secret', RANDOM_BYTES),
  });

/** Keys of a workspace that may be active at once, for each mode, live and test, as docs/api.md says. Nobody keeps more apart. */
export const KEYS_PER_WORKSPACE = 100;

@CommandHandler(IssueApiKey)
export class IssueApiKeyHandler implements ICommandHandler<IssueApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: ApiKeyQuery,
  ) {}

  async execute({ workspaceId, asked, by, manager }: IssueApiKey): Promise<IssuedKey | KeyRefusal> {
    const key = drawApiKey(by);
    const { keyId, hash } = key;
    const now = this.clock.now();
    const outcome = await this.executor.execute(
      workspaceId,
      {
        type: 'IssueApiKey',
        keyId,
        hash,
        asked,
        ordinaryScopes: ORDINARY_SCOPES,
        manager,
        limit: KEYS_PER_WORKSPACE,
        now,
      },
      { intent: `issue-key:${keyId}`, by, workspaceId, at: now },
    );
    if (outcome.kind === 'rejected') return refusalOf(outcome);
    const terms = termsOf(outcome, keyId);
    if (!terms) return { outcome: 'unknown_key' };
    await this.keys.known(keyId);
    return { outcome: 'issued', keyId, apiKey: apiKeyText(asked.mode, key), terms };
  }
}

@CommandHandler(RotateApiKey)
export class RotateApiKeyHandler implements ICommandHandler<RotateApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: ApiKeyQuery,
  ) {}

  async execute({ keyId: previous, overlapSeconds, by, manager, ...named }: RotateApiKey) {
    const workspaceId = named.workspaceId ?? (await this.keys.find(previous))?.workspaceId;
    if (workspaceId === undefined) return { outcome: 'unknown_key' } as const;
    const key = drawApiKey(by);
    const { keyId, hash } = key;
    const now = this.clock.now();
    const overlapMs = overlapSeconds * 1_000;
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'RotateApiKey', keyId, hash, previous, overlapMs, manager, limit: KEYS_PER_WORKSPACE, now },
      { intent: `rotate-key:${keyId}`, by, workspaceId, at: now },
    );
    if (outcome.kind === 'rejected') return refusalOf(outcome);
    const terms = termsOf(outcome, keyId);
    if (!terms) return { outcome: 'unknown_key' } as const;
    const left = outcome.state.standing.get(previous);
    // The projection does this too, but may be late, parked or stopped. The end of a leaked key must not wait for it.
    if (left) await this.keys.shorten(previous, left.endsAt);
    else await this.keys.close(previous, now);
    await this.keys.known(keyId);
    return {
      outcome: 'rotated',
      keyId,
      apiKey: apiKeyText(terms.mode, key),
      terms,
      previousExpiresAt: instant(left?.endsAt ?? now),
    } as const;
  }
}

@CommandHandler(RevokeApiKey)
export class RevokeApiKeyHandler implements ICommandHandler<RevokeApiKey> {
  constructor(
    @Inject(WORKSPACE_EXECUTOR) private readonly executor: WorkspaceExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: ApiKeyQuery,
  ) {}

  async execute({ keyId, reason, by, sees, ...named }: RevokeApiKey) {
    // With the workspace's id, a key can be revoked that no worker has projected yet.
    const workspaceId = named.workspaceId ?? (await this.keys.find(keyId))?.workspaceId;
    if (workspaceId === undefined) return { outcome: 'unknown_key' } as const;
    const now = this.clock.now();
    const outcome = await this.executor.execute(
      workspaceId,
      { type: 'RevokeApiKey', keyId, reason, sees },
      { intent: `revoke-key:${keyId}`, by, workspaceId, at: now },
    );
    if (outcome.kind === 'rejected') {
      // The stream's state remembers the keys revoked last; the rows have all.
      const row = await this.keys.find(keyId);
      const isOwn = row?.workspaceId === workspaceId && sees.includes(row.mode);
      return { outcome: isOwn && row.revokedAt ? 'already_revoked' : 'unknown_key' } as const;
    }
    // The projection does this too, but may be late, parked or stopped. Revoking a leaked key must not wait for it.
    await this.keys.close(keyId, now);
    return { outcome: outcome.kind === 'accepted' ? 'revoked' : 'already_revoked' } as const;
  }
}

@CommandHandler(RevokeApiKeyAndIssued)
export class RevokeApiKeyAndIssuedHandler implements ICommandHandler<RevokeApiKeyAndIssued> {
  constructor(
    private readonly one: RevokeApiKeyHandler,
    private readonly keys: ApiKeyQuery,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  async execute({ keyId, reason, by }: RevokeApiKeyAndIssued) {
    const workspaceId = (await this.keys.find(keyId))?.workspaceId;
    if (workspaceId === undefined) return { outcome: 'unknown_key' } as const;
    const revoke = (id: string) => this.one.execute(new RevokeApiKey(id, reason, by, workspaceId));
    // First: a revoked key issues nothing more, so that the stream then names all that it issued.
    const { outcome } = await revoke(keyId);
    if (outcome === 'unknown_key') return { outcome };
    const issued = await this.issuedWith(keyId, workspaceId);
    for (const id of issued) await revoke(id);
    return { outcome, workspaceId, issued };
  }

  /** The issuer of a key is the actor of its event. */
  private async issuedWith(keyId: string, workspaceId: string): Promise<readonly string[]> {
    const actors = new Set([`apiKey:${keyId}`]);
    const issued: string[] = [];
    for await (const stored of this.store.read(streamName(workspaceEvents.category, workspaceId))) {
      const event = decodeOrShow(workspaceEvents, stored);
      if (isOpaque(event) || event.type !== 'ApiKeyIssued' || !actors.has(event.metadata.actor)) continue;
      issued.push(event.data.keyId);
      actors.add(`apiKey:${event.data.keyId}`);
    }
    return issued;
  }
}

const PAGE = 500;

@QueryHandler(FindExpiringKeys)
export class FindExpiringKeysHandler implements IQueryHandler<FindExpiringKeys> {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  async execute({ from, withinMs, after }: FindExpiringKeys) {
    const { rows } = await this.pool.query<object>(
      `select workspace_id as "workspaceId", key_id as "keyId", mode, expires_at as "expiresAt" from workspaces.api_key
       where key_id > $3 and revoked_at is null and expires_at > $1::timestamptz
         and expires_at <= $1::timestamptz + $2 * interval '1 millisecond'
         and issued_at <= expires_at - $2 * interval '1 millisecond'
       order by key_id limit ${PAGE}`,
      [from, withinMs, after],
    );
    const found = rows.map((row) => asRecord<ExpiringKey>(row));
    return { found, next: found.length < PAGE ? null : found.at(-1)!.keyId };
  }
}
