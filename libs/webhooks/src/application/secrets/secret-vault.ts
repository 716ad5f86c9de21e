import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { LRUCache } from 'lru-cache';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { drawBytes, drawUuid } from '#platform/crypto/draw.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import type { SealedColumn } from '#platform/crypto/rewrapping.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { SECRET_BYTES, formatSecret } from '../../domain/delivery/signed-headers.js';

export interface NewSecret {
  readonly ref: string;
  /** The secret in clear. Shown to the owner once and nowhere else. */
  readonly secret: string;
  readonly hint: string;
  readonly sealed: Buffer;
}

const HINT_LENGTH = 4;
const OPENED_SECRETS = 1_000;

/** Makes, seals and opens signing secrets. */
@Injectable()
export class SecretVault {
  /** The secret behind a reference never changes, so an opened one stays valid. */
  private readonly opened = new LRUCache<string, string>({ max: OPENED_SECRETS });

  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly ring: KeyRing,
  ) {}

  /** A repeat of the same request gets the same secret, under the same reference. */
  generate(endpointId: string, by: Pick<RequestContext, 'seed'>): NewSecret {
    const ref = drawUuid(by, 'webhook-secret-ref');
    const secret = formatSecret(drawBytes(by, 'webhook-secret', SECRET_BYTES));
    const sealed = this.ring.seal(sealContext(endpointId, ref), Buffer.from(secret, 'utf8'));
    return { ref, secret, hint: secret.slice(-HINT_LENGTH), sealed };
  }

  /**
   * Stores a generated secret, within the caller's transaction if a connection is given. A repeat makes it young again, so
   * that nobody destroys it as unused before its event.
   */
  async store(
    { ref, hint, sealed }: NewSecret,
    owner: { endpointId: string; workspaceId: string; at: string },
    connection: Pick<pg.Pool | pg.PoolClient, 'query'> = this.pool,
  ): Promise<void> {
    await connection.query(
      `insert into webhooks.secret (secret_ref, endpoint_id, workspace_id, sealed, hint, created_at)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (secret_ref) do update set created_at = excluded.created_at`,
      [ref, owner.endpointId, owner.workspaceId, sealed, hint, owner.at],
    );
  }

  /** The last characters of a secret, to identify it; empty when it was destroyed. */
  async hint(ref: string | null): Promise<string> {
    const found = await this.pool.query<{ hint: string }>(
      'select hint from webhooks.secret where secret_ref = $1',
      [ref],
    );
    return found.rows[0]?.hint ?? '';
  }

  /** The secrets behind the references that still exist, in order. @throws SealBroken */
  async open(endpointId: string, refs: readonly string[]): Promise<readonly string[]> {
    const unknown = refs.filter((ref) => this.opened.get(ref) === undefined);
    if (unknown.length > 0) {
      const { rows } = await this.pool.query<{ secret_ref: string; sealed: Buffer }>(
        'select secret_ref, sealed from webhooks.secret where secret_ref = any ($1)',
        [unknown],
      );
      for (const { secret_ref: ref, sealed } of rows) {
        this.opened.set(ref, this.ring.open(sealContext(endpointId, ref), sealed).toString('utf8'));
      }
    }
    return refs.map((ref) => this.opened.get(ref)).filter((secret) => secret !== undefined);
  }
}

const sealContext = (endpointId: string, ref: string): string => `webhook-secret|${endpointId}|${ref}`;

/** Location of the sealed secrets, for a rotation of the key-encryption key. */
export const SECRET_COLUMN: SealedColumn = {
  table: 'webhooks.secret',
  id: 'secret_ref',
  sealed: 'sealed',
  owner: ['endpoint_id'],
  context: (ref, [endpointId = '']) => sealContext(endpointId, ref),
};
