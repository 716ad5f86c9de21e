import { Inject, Injectable } from '@nestjs/common';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import { type Mode, MODES } from '#event-sourcing/core/request-context.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { askedTogether } from '#platform/postgres/asked-together.js';
import { asRecord } from '#platform/postgres/as-record.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import {
  type ApiKeySummary,
  GetWorkspace,
  ListApiKeys,
  ListWorkspaces,
  workspaceEvents,
  type WorkspaceSummary,
} from '../contracts/index.js';
import { type Network, readNetwork } from '../contracts/networks.js';

export interface ApiKeyRow {
  readonly workspaceId: string;
  /** Lowercase hex SHA-256 of the secret. */
  readonly hash: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  /** CIDR ranges that the key works from; none: everywhere. */
  readonly networks: readonly Network[];
  /** The hour of its last use. */
  readonly usedAt: Date | null;
}

/** Longest wait until authentication knows a new key, milliseconds. */
const KNOWN_WITHIN_MS = 5_000;
const ASK_EVERY_MS = 25;

@Injectable()
export class ApiKeyQuery {
  readonly find = askedTogether((keyIds: readonly string[]) => this.rows(keyIds));

  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  private async rows(keyIds: readonly string[]): Promise<readonly (ApiKeyRow | null)[]> {
    const { rows } = await this.pool.query<
      Omit<ApiKeyRow, 'networks'> & { readonly keyId: string; readonly networks: readonly string[] }
    >({
      name: 'api-keys',
      text: `select key_id as "keyId", workspace_id as "workspaceId", hash, expires_at as "expiresAt",
                    revoked_at as "revokedAt", mode, scopes, networks, used_at as "usedAt"
             from workspaces.api_key left join workspaces.api_key_use using (key_id) where key_id = any($1::text[])`,
      values: [keyIds],
    });
    const found = new Map(
      rows.map(({ keyId, networks, ...row }) => [keyId, { ...row, networks: networks.map(stored) }]),
    );
    return keyIds.map((keyId) => found.get(keyId) ?? null);
  }

  /** Waits until a new key works, but not long: a worker may be late. */
  async known(keyId: string): Promise<void> {
    for (const deadline = Date.now() + KNOWN_WITHIN_MS; Date.now() < deadline; await delay(ASK_EVERY_MS))
      if (await this.find(keyId)) return;
  }

  /** Records the hour in which a key was used. @param hour milliseconds since the epoch */
  async noteUse(keyId: string, hour: number): Promise<void> {
    await this.pool.query(
      `insert into workspaces.api_key_use as use (key_id, used_at) values ($1, $2)
       on conflict (key_id) do update set used_at = excluded.used_at where use.used_at < excluded.used_at`,
      [keyId, instant(hour)],
    );
  }

  /** Ends a key whose revocation is in the log. @param at milliseconds since the epoch */
  async close(keyId: string, at: number): Promise<void> {
    await this.pool.query(
      'update workspaces.api_key set revoked_at = $2 where key_id = $1 and revoked_at is null',
      [keyId, instant(at)],
    );
  }

  /** Shortens the life of a key whose replacement is in the log. @param endsAt milliseconds since the epoch */
  async shorten(keyId: string, endsAt: number): Promise<void> {
    await this.pool.query(
      'update workspaces.api_key set expires_at = least(expires_at, $2::timestamptz) where key_id = $1',
      [keyId, instant(endsAt)],
    );
  }

  /** Keys of a workspace and of these modes, newest first, after the last key of the page before (`issuedAt`, `keyId`). */
  async page(
    workspaceId: string,
    sees: readonly Mode[],
    limit: number,
    after: readonly string[] | null,
  ): Promise<readonly ApiKeySummary[]> {
    const { rows } = await this.pool.query<object>(
      // A part for each mode: an index has the keys of one in this order.
      `select key_id as "keyId", label, mode, scopes, networks, issued_at as "issuedAt", expires_at as "expiresAt", revoked_at as "revokedAt",
              used_at as "lastUsedAt"
       from unnest($5::text[]) as seen (of_mode) cross join lateral (
         select * from workspaces.api_key
         where workspace_id = $1 and mode = of_mode and ($3::timestamptz is null or (issued_at, key_id) < ($3, $4))
         order by issued_at desc, key_id desc limit $2
       ) key
       left join workspaces.api_key_use using (key_id)
       order by issued_at desc, key_id desc limit $2`,
      [workspaceId, limit, after?.[0] ?? null, after?.[1] ?? null, sees],
    );
    return rows.map((row) => asRecord<ApiKeySummary>(row));
  }
}

/** A network that cannot be read must not open the key to everyone. */
const stored = (text: string): Network => {
  const network = readNetwork(text);
  if (!network) throw new TypeError('A stored network cannot be read');
  return network;
};

@QueryHandler(ListApiKeys)
export class ListApiKeysHandler implements IQueryHandler<ListApiKeys> {
  constructor(private readonly keys: ApiKeyQuery) {}

  execute({ workspaceId, limit }: ListApiKeys): Promise<readonly ApiKeySummary[]> {
    return this.keys.page(workspaceId, MODES, limit, null);
  }
}

@QueryHandler(GetWorkspace)
export class GetWorkspaceHandler implements IQueryHandler<GetWorkspace> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  /** The first event has it. */
  async execute({ workspaceId }: GetWorkspace): Promise<Pick<WorkspaceSummary, 'name' | 'openedAt'> | null> {
    const stream = streamName(workspaceEvents.category, workspaceId);
    for await (const stored of this.store.read(stream, { limit: 1 })) {
      const event = decodeOrShow(workspaceEvents, stored);
      if (!isOpaque(event) && event.type === 'WorkspaceOpened')
        return { name: event.data.name, openedAt: event.metadata.occurredAt };
    }
    return null;
  }
}

@QueryHandler(ListWorkspaces)
export class ListWorkspacesHandler implements IQueryHandler<ListWorkspaces> {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  async execute(): Promise<readonly WorkspaceSummary[]> {
    const { rows } = await this.pool.query<object>(
      `select w.workspace_id as "workspaceId", w.name, w.opened_at as "openedAt",
              count(k.key_id) filter (where k.revoked_at is null and (k.expires_at is null or k.expires_at > now()))::int as "activeKeys"
       from workspaces.workspace w left join workspaces.api_key k using (workspace_id)
       group by w.workspace_id order by w.opened_at, w.workspace_id limit 1000`,
    );
    return rows.map((row) => asRecord<WorkspaceSummary>(row));
  }
}
