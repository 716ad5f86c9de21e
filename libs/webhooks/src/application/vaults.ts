import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { drawBytes, drawUuid } from '#platform/crypto/draw.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { type SealedColumn, countByKey, rewrap, type Rewrapped } from '#platform/crypto/rewrapping.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { SECRET_BYTES, formatSecret } from '../domain/signed-headers.js';
import { canonicalHeaders, type CustomHeaders } from '../domain/custom-headers.js';
import { CountSecretsByKey, RewrapSecrets } from '../contracts/endpoints.js';

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
    const sealed = this.ring.seal(secretContext(endpointId, ref), Buffer.from(secret, 'utf8'));
    return { ref, secret, hint: secret.slice(-HINT_LENGTH), sealed };
  }

  /** Stores a generated secret. A repeat makes it young again, so that nobody destroys it as unused before its event. */
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

  async hint(ref: string | null): Promise<string> {
    const text = 'select hint from webhooks.secret where secret_ref = $1';
    const found = await this.pool.query<{ hint: string }>(text, [ref]);
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
        this.opened.set(ref, this.ring.open(secretContext(endpointId, ref), sealed).toString('utf8'));
      }
    }
    return refs.map((ref) => this.opened.get(ref)).filter((secret) => secret !== undefined);
  }
}

const secretContext = (endpointId: string, ref: string): string => `webhook-secret|${endpointId}|${ref}`;

const SECRET_COLUMN: SealedColumn = {
  table: 'webhooks.secret',
  id: 'secret_ref',
  sealed: 'sealed',
  owner: ['endpoint_id'],
  context: (ref, [endpointId = '']) => secretContext(endpointId, ref),
};

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

  /** Before the event that names them. @returns `ref` null: there are none @param headers without fault @param owner `at`: RFC 3339 */
  async store(
    headers: CustomHeaders,
    owner: { readonly endpointId: string; readonly workspaceId: string; readonly at: string },
  ): Promise<{ readonly ref: string | null; readonly names: readonly string[] }> {
    const canonical = canonicalHeaders(headers);
    const names = Object.keys(canonical);
    if (names.length === 0) return { ref: null, names };
    const ref = randomUUID();
    const { endpointId, workspaceId, at } = owner;
    const sealed = this.ring.seal(headersContext(endpointId, ref), Buffer.from(JSON.stringify(canonical)));
    await this.pool.query(
      `insert into webhooks.endpoint_headers (headers_ref, endpoint_id, workspace_id, sealed, names, created_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [ref, endpointId, workspaceId, sealed, names, at],
    );
    return { ref, names };
  }

  async names(ref: string | null): Promise<readonly string[]> {
    if (ref === null) return [];
    const text = 'select names from webhooks.endpoint_headers where headers_ref = $1';
    const { rows } = await this.pool.query<{ names: string[] }>(text, [ref]);
    return rows[0]?.names ?? [];
  }

  /** @throws SealBroken; Error when they are gone: an endpoint is never called without its headers */
  async open(endpointId: string, ref: string | null): Promise<CustomHeaders> {
    if (ref === null) return {};
    const known = this.opened.get(ref);
    if (known) return known;
    const text = 'select sealed from webhooks.endpoint_headers where headers_ref = $1';
    const { rows } = await this.pool.query<{ sealed: Buffer }>(text, [ref]);
    if (!rows[0]) throw new Error('the custom headers of the endpoint are missing');
    const opened = this.ring.open(headersContext(endpointId, ref), rows[0].sealed);
    const headers = JSON.parse(opened.toString('utf8')) as CustomHeaders;
    this.opened.set(ref, headers);
    return headers;
  }
}

const headersContext = (endpointId: string, ref: string): string => `webhook-headers|${endpointId}|${ref}`;

const HEADERS_COLUMN: SealedColumn = {
  table: 'webhooks.endpoint_headers',
  id: 'headers_ref',
  sealed: 'sealed',
  owner: ['endpoint_id'],
  context: (ref, [endpointId = '']) => headersContext(endpointId, ref),
};

interface AnsweredAttempt {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly readingId: string | null;
}

/** Seals responses to failed attempts with the reading's key: they may tell of the person, and so end with the key everywhere. */
@Injectable()
export class AnswerVault {
  constructor(@Inject(SubjectKeys) private readonly keys: Pick<SubjectKeys, 'find'>) {}

  /** @returns `null`: not sealed, so not stored: a notice, an erased reading, or a key that cannot be had. No delivery waits for it */
  async seal(of: AnsweredAttempt, answer: Uint8Array | null): Promise<Buffer | null> {
    if (answer === null || answer.length === 0 || of.readingId === null) return null;
    const key = await this.keys.find(of.readingId).catch(() => null);
    return key?.seal(contextOf(of), answer) ?? null;
  }

  /** @returns `null` when the reading was erased. @throws KeysUnavailable */
  async open(of: AnsweredAttempt, sealed: Uint8Array): Promise<Buffer | null> {
    const key = of.readingId === null ? null : await this.keys.find(of.readingId);
    return key?.open(contextOf(of), sealed) ?? null;
  }
}

const contextOf = ({ deliveryId, attempt }: AnsweredAttempt): string =>
  `webhook-answer|${deliveryId}|${attempt}`;

@CommandHandler(RewrapSecrets)
export class RewrapSecretsHandler implements ICommandHandler<RewrapSecrets> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly ring: KeyRing,
  ) {}

  async execute({ onProgress }: RewrapSecrets): Promise<Rewrapped> {
    const secrets = await rewrap(this.pool, this.ring, SECRET_COLUMN, onProgress);
    const headers = await rewrap(this.pool, this.ring, HEADERS_COLUMN, onProgress);
    const unopened = [...secrets.unopened, ...headers.unopened];
    const left = new Set([...secrets.left, ...headers.left]);
    return { rewrapped: secrets.rewrapped + headers.rewrapped, unopened, left };
  }
}

@QueryHandler(CountSecretsByKey)
export class CountSecretsByKeyHandler implements IQueryHandler<CountSecretsByKey> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map(await countByKey(this.pool, SECRET_COLUMN));
    for (const [key, count] of await countByKey(this.pool, HEADERS_COLUMN))
      counts.set(key, (counts.get(key) ?? 0) + count);
    return counts;
  }
}
