import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { drawBytes, drawUuid } from '#platform/crypto/draw.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { type SealedColumn, countByKey, rewrap } from '#platform/crypto/rewrapping.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { SECRET_BYTES, formatSecret } from '../domain/signed-headers.js';
import { canonicalHeaders, type CustomHeaders } from '../domain/custom-headers.js';
import { CountSecretsByKey, RewrapSecrets, type RewrappedSecrets } from '../contracts/index.js';

export interface NewSecret {
  readonly ref: string;
  /** The secret in clear. Shown to the owner once and nowhere else. */
  readonly secret: string;
  readonly hint: string;
  readonly sealed: Buffer;
}

/** Whose secret or headers are stored. @param at RFC 3339 */
interface Owner {
  readonly endpointId: string;
  readonly workspaceId: string;
  readonly at: string;
}

const sealedOfEndpoints = (table: string, id: string, purpose: string): SealedColumn => ({
  table,
  id,
  sealed: 'sealed',
  owner: ['endpoint_id'],
  context: (ref, [endpointId = '']) => `${purpose}|${endpointId}|${ref}`,
});
const SECRETS = sealedOfEndpoints('webhooks.secret', 'secret_ref', 'webhook-secret');
const HEADERS = sealedOfEndpoints('webhooks.endpoint_headers', 'headers_ref', 'webhook-headers');

const OPENED = 1_000;

/** Texts that the key ring seals for endpoints. The text behind a reference never changes, so an opened one stays valid. */
abstract class EndpointVault {
  protected abstract readonly column: SealedColumn;
  private readonly opened = new LRUCache<string, string>({ max: OPENED });

  constructor(
    @Inject(POSTGRES) protected readonly pool: pg.Pool,
    private readonly ring: KeyRing,
  ) {}

  protected seal(endpointId: string, ref: string, text: string): Buffer {
    return this.ring.seal(this.column.context(ref, [endpointId]), Buffer.from(text, 'utf8'));
  }

  /** The texts behind the references that still exist, in order. @throws SealBroken */
  protected async textsOf(endpointId: string, refs: readonly string[]): Promise<readonly string[]> {
    const { table, id, context } = this.column;
    const unknown = refs.filter((ref) => this.opened.get(ref) === undefined);
    if (unknown.length > 0) {
      const { rows } = await this.pool.query<{ ref: string; sealed: Buffer }>(
        `select ${id} as ref, sealed from ${table} where ${id} = any ($1)`,
        [unknown],
      );
      for (const { ref, sealed } of rows)
        this.opened.set(ref, this.ring.open(context(ref, [endpointId]), sealed).toString('utf8'));
    }
    return refs.map((ref) => this.opened.get(ref)).filter((text) => text !== undefined);
  }
}

const HINT_LENGTH = 4;

/** Makes, seals and opens signing secrets. */
@Injectable()
export class SecretVault extends EndpointVault {
  protected readonly column = SECRETS;

  /** A repeat of the same request gets the same secret, under the same reference. */
  generate(endpointId: string, by: Pick<RequestContext, 'seed'>): NewSecret {
    const ref = drawUuid(by, 'webhook-secret-ref');
    const secret = formatSecret(drawBytes(by, 'webhook-secret', SECRET_BYTES));
    return { ref, secret, hint: secret.slice(-HINT_LENGTH), sealed: this.seal(endpointId, ref, secret) };
  }

  /** Stores a generated secret. A repeat makes it young again, so that nobody destroys it as unused before its event. */
  async store(
    { ref, hint, sealed }: NewSecret,
    { endpointId, workspaceId, at }: Owner,
    connection: Pick<pg.Pool | pg.PoolClient, 'query'> = this.pool,
  ): Promise<void> {
    await connection.query(
      `insert into webhooks.secret (secret_ref, endpoint_id, workspace_id, sealed, hint, created_at)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (secret_ref) do update set created_at = excluded.created_at`,
      [ref, endpointId, workspaceId, sealed, hint, at],
    );
  }

  /** The secrets behind the references that still exist, in order. @throws SealBroken */
  open(endpointId: string, refs: readonly string[]): Promise<readonly string[]> {
    return this.textsOf(endpointId, refs);
  }
}

/** Seals, stores and opens the custom headers of endpoints: they may hold the receiver's credentials. */
@Injectable()
export class HeaderVault extends EndpointVault {
  protected readonly column = HEADERS;

  /** Before the event that names them. @returns their reference; `null`: there are none @param headers without fault */
  async store(headers: CustomHeaders, { endpointId, workspaceId, at }: Owner): Promise<string | null> {
    const canonical = canonicalHeaders(headers);
    const names = Object.keys(canonical);
    if (names.length === 0) return null;
    const ref = randomUUID();
    await this.pool.query(
      `insert into webhooks.endpoint_headers (headers_ref, endpoint_id, workspace_id, sealed, names, created_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [ref, endpointId, workspaceId, this.seal(endpointId, ref, JSON.stringify(canonical)), names, at],
    );
    return ref;
  }

  /** @throws SealBroken; Error when they are gone: an endpoint is never called without its headers */
  async open(endpointId: string, ref: string | null): Promise<CustomHeaders> {
    if (ref === null) return {};
    const [text] = await this.textsOf(endpointId, [ref]);
    if (text === undefined) throw new Error('the custom headers of the endpoint are missing');
    return JSON.parse(text) as CustomHeaders;
  }
}

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
class RewrapSecretsHandler implements ICommandHandler<RewrapSecrets> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly ring: KeyRing,
  ) {}

  async execute({ onProgress }: RewrapSecrets): Promise<RewrappedSecrets> {
    const secrets = await rewrap(this.pool, this.ring, SECRETS, onProgress);
    const headers = await rewrap(this.pool, this.ring, HEADERS, onProgress);
    return {
      rewrapped: secrets.rewrapped + headers.rewrapped,
      unopened: [...secrets.unopened, ...headers.unopened],
    };
  }
}

@QueryHandler(CountSecretsByKey)
class CountSecretsByKeyHandler implements IQueryHandler<CountSecretsByKey> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map(await countByKey(this.pool, SECRETS));
    for (const [key, count] of await countByKey(this.pool, HEADERS))
      counts.set(key, (counts.get(key) ?? 0) + count);
    return counts;
  }
}

export const VAULTS = [AnswerVault, HeaderVault, SecretVault];
export const SECRET_HANDLERS = [CountSecretsByKeyHandler, RewrapSecretsHandler];
