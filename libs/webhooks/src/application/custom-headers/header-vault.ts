import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { LRUCache } from 'lru-cache';
import { KeyRing } from '#platform/crypto/key-ring.js';
import type { SealedColumn } from '#platform/crypto/rewrapping.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { canonicalHeaders, type CustomHeaders } from '../../domain/headers/custom-headers.js';

/** Stored headers: what an endpoint's event names, and what its owner may see. */
export interface StoredHeaders {
  /** `null`: there are none. */
  readonly ref: string | null;
  readonly names: readonly string[];
}

const OPENED = 1_000;

/** Seals, stores and opens the custom headers of endpoints: they may hold the receiver's credentials. */
@Injectable()
export class HeaderVault {
  /** The headers behind a reference never change. */
  private readonly opened = new LRUCache<string, CustomHeaders>({ max: OPENED });

  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly ring: KeyRing,
  ) {}

  /** Before the event that names them. @param headers without fault @param owner `at`: RFC 3339 */
  async store(
    headers: CustomHeaders,
    owner: { readonly endpointId: string; readonly workspaceId: string; readonly at: string },
  ): Promise<StoredHeaders> {
    const canonical = canonicalHeaders(headers);
    const names = Object.keys(canonical);
    if (names.length === 0) return { ref: null, names };
    const ref = randomUUID();
    const { endpointId, workspaceId, at } = owner;
    const sealed = this.ring.seal(sealContext(endpointId, ref), Buffer.from(JSON.stringify(canonical)));
    await this.pool.query(
      `insert into webhooks.endpoint_headers (headers_ref, endpoint_id, workspace_id, sealed, names, created_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [ref, endpointId, workspaceId, sealed, names, at],
    );
    return { ref, names };
  }

  /** The names of stored headers, in lower case. */
  async names(ref: string | null): Promise<readonly string[]> {
    if (ref === null) return [];
    const { rows } = await this.pool.query<{ names: string[] }>(
      'select names from webhooks.endpoint_headers where headers_ref = $1',
      [ref],
    );
    return rows[0]?.names ?? [];
  }

  /** @throws SealBroken; Error when they are gone: an endpoint is never called without its headers */
  async open(endpointId: string, ref: string | null): Promise<CustomHeaders> {
    if (ref === null) return {};
    const known = this.opened.get(ref);
    if (known) return known;
    const { rows } = await this.pool.query<{ sealed: Buffer }>(
      'select sealed from webhooks.endpoint_headers where headers_ref = $1',
      [ref],
    );
    if (!rows[0]) throw new Error('the custom headers of the endpoint are missing');
    const headers = JSON.parse(
      this.ring.open(sealContext(endpointId, ref), rows[0].sealed).toString('utf8'),
    ) as CustomHeaders;
    this.opened.set(ref, headers);
    return headers;
  }
}

const sealContext = (endpointId: string, ref: string): string => `webhook-headers|${endpointId}|${ref}`;

/** Location of the sealed headers, for a rotation of the key-encryption key. */
export const HEADERS_COLUMN: SealedColumn = {
  table: 'webhooks.endpoint_headers',
  id: 'headers_ref',
  sealed: 'sealed',
  owner: ['endpoint_id'],
  context: (ref, [endpointId = '']) => sealContext(endpointId, ref),
};
