import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Pool, PoolClient } from 'pg';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { forgetOlder } from '#platform/retention/rows.js';
import { CLOCK } from '#platform/tokens.js';
import { keyStands } from '#workspaces/contracts/index.js';
import { type DocumentFormat, EndLinksMadeBy } from '../contracts/index.js';

/** 208 bits, which nobody guesses. With its checksum, a token has a whole number of characters. */
export const SECRET_BYTES = 26;
const CHECKSUM_BYTES = 4;
const SHAPE = /^[\w-]{40}$/;

/** Lowercase hex SHA-256 of a token's bytes. The token has 208 random bits, so it needs no slow hash. */
export type TokenHash = string;

const checksum = (secret: Uint8Array): Buffer => {
  const sum = Buffer.alloc(CHECKSUM_BYTES);
  sum.writeUInt32BE(crc32(secret));
  return sum;
};

const hashOf = (bytes: Uint8Array): TokenHash => createHash('sha256').update(bytes).digest('hex');

/**
 * Makes the token of a link: base64url of the random bytes and their CRC-32. Only its hash is stored.
 * @param random SECRET_BYTES random bytes
 */
export const makeToken = (random: Uint8Array): { readonly token: string; readonly hash: TokenHash } => {
  const bytes = Buffer.concat([random, checksum(random)]);
  return { token: bytes.toString('base64url'), hash: hashOf(bytes) };
};

/** The hash of a well-formed token; `null` for a wrong shape or checksum, so that it costs no query. */
export const hashOfToken = (token: string): TokenHash | null => {
  if (!SHAPE.test(token)) return null;
  const bytes = Buffer.from(token, 'base64url');
  const secret = bytes.subarray(0, SECRET_BYTES);
  return checksum(secret).equals(bytes.subarray(SECRET_BYTES)) ? hashOf(bytes) : null;
};

/** A right to read the document of a reading in one format without a key. Instants are RFC 3339 UTC. */
export interface DocumentLink {
  readonly linkId: string;
  readonly readingId: string;
  readonly workspaceId: string;
  readonly format: DocumentFormat;
  /** `null`: the newest at the time of reading. */
  readonly version: number | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  /** Answered reads. */
  readonly uses: number;
  readonly lastUsedAt: string | null;
}

export type NewLink = Omit<DocumentLink, 'revokedAt' | 'uses' | 'lastUsedAt'> & {
  readonly tokenHash: TokenHash;
  /** The caller who makes it, `apiKey:<keyId>`. */
  readonly createdBy: string;
};

type Row = Omit<DocumentLink, 'createdAt' | 'expiresAt' | 'revokedAt' | 'uses' | 'lastUsedAt'> &
  Readonly<Record<'createdAt' | 'expiresAt', Date>> &
  Readonly<Record<'revokedAt' | 'lastUsedAt', Date | null>> & { readonly uses: string };

const COLUMNS = `link_id as "linkId", reading_id as "readingId", workspace_id as "workspaceId", format, version,
  created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt", uses, last_used_at as "lastUsedAt"`;

/** Expired links are kept, so that they are answered 410, and deleted this long after. */
const KEPT_FOR = '30 days';

/** Links are rows, not events: docs/adr/0028. */
@Injectable()
export class LinkStore {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  /**
   * Stores a link. Locks the key's row first: links of a reading are added one after the other, so that none exceeds the
   * limit. An erasure waits meanwhile, and then ends this link too.
   * @param most live links that a reading may have
   * @returns the link; that of an earlier attempt when a repeated request draws its id again
   */
  add(link: NewLink, most: number): Promise<DocumentLink | 'too_many' | 'erased' | 'key_ended'> {
    return transaction(this.pool, async (client) => {
      const held = await client.query(
        'select from platform.subject_key where subject_id = $1 for no key update',
        [link.readingId],
      );
      if (held.rowCount === 0) return 'erased';
      if (!(await this.holdMaker(client, link))) return 'key_ended';
      // Statements of their own: they see the links that were added while this one waited.
      const known = await client.query<Row>(
        `select ${COLUMNS} from publishing.document_link where link_id = $1 and reading_id = $2`,
        [link.linkId, link.readingId],
      );
      if (known.rows[0]) return fromRow(known.rows[0]);
      const { rows } = await client.query<Row>(
        `insert into publishing.document_link
           (link_id, reading_id, workspace_id, format, version, created_at, expires_at, token_sha256, created_by)
         select $1::uuid, $2::uuid, $3, $4, $5::integer, $6::timestamptz, $7::timestamptz, decode($8, 'hex'), $9
         where (select count(*) from publishing.document_link
                where reading_id = $2::uuid and revoked_at is null and expires_at > $6::timestamptz) < $10
         returning ${COLUMNS}`,
        [
          link.linkId,
          link.readingId,
          link.workspaceId,
          link.format,
          link.version,
          link.createdAt,
          link.expiresAt,
          link.tokenHash,
          link.createdBy,
          most,
        ],
      );
      return rows[0] ? fromRow(rows[0]) : 'too_many';
    });
  }

  /**
   * Holds the API key that makes a link until the transaction ends. Its revocation waits meanwhile, so that whoever ends the
   * links of a revoked key finds this one, too.
   * @returns false: the key has ended
   */
  private async holdMaker(client: PoolClient, { createdBy, createdAt }: NewLink): Promise<boolean> {
    const [, keyId] = /^apiKey:(.+)$/.exec(createdBy) ?? [];
    if (keyId === undefined) return true;
    const { rowCount } = await client.query(
      `select from workspaces.api_key as key where key.key_id = $1 and ${keyStands('$2')} for share`,
      [keyId, createdAt],
    );
    return rowCount === 1;
  }

  async byToken(hash: TokenHash): Promise<DocumentLink | null> {
    const { rows } = await this.pool.query<Row>({
      name: 'link-by-token',
      text: `select ${COLUMNS} from publishing.document_link where token_sha256 = decode($1, 'hex')`,
      values: [hash],
    });
    return rows[0] ? fromRow(rows[0]) : null;
  }

  /** Links of a reading, newest first, after the end of the page before (`createdAt`, `linkId`). */
  async page(
    readingId: string,
    limit: number,
    after: readonly string[] | null,
  ): Promise<readonly DocumentLink[]> {
    const { rows } = await this.pool.query<Row>(
      `select ${COLUMNS} from publishing.document_link
       where reading_id = $1 and ($3::timestamptz is null or (created_at, link_id) < ($3, $4::uuid))
       order by created_at desc, link_id desc limit $2`,
      [readingId, limit, after?.[0] ?? null, after?.[1] ?? null],
    );
    return rows.map(fromRow);
  }

  /** Ends a link; does nothing more when it has ended. @returns whether the reading has such a link */
  async revoke(readingId: string, linkId: string, at: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `update publishing.document_link set revoked_at = coalesce(revoked_at, $3)
       where link_id = $1 and reading_id = $2`,
      [linkId, readingId, at],
    );
    return rowCount === 1;
  }

  /**
   * Ends the live links of a workspace that these callers made, such as those of a leaked key.
   * @param makers as `createdBy` of the links
   * @returns how many
   */
  async revokeMadeBy(workspaceId: string, makers: readonly string[], at: string): Promise<number> {
    const { rowCount } = await this.pool.query(
      `update publishing.document_link set revoked_at = $3
       where workspace_id = $1 and created_by = any ($2) and revoked_at is null and expires_at > $3`,
      [workspaceId, makers, at],
    );
    return rowCount ?? 0;
  }

  /** Counts an answered read. */
  async addUse(linkId: string, at: string): Promise<void> {
    await this.pool.query(
      `update publishing.document_link
       set uses = uses + 1, last_used_at = greatest(last_used_at, $2::timestamptz) where link_id = $1`,
      [linkId, at],
    );
  }

  /** Deletes links that expired long ago. @returns how many */
  forget(signal: AbortSignal): Promise<number> {
    return forgetOlder(this.pool, { table: 'publishing.document_link', at: 'expires_at' }, KEPT_FOR, signal);
  }
}

const fromRow = (row: Row): DocumentLink => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  revokedAt: row.revokedAt?.toISOString() ?? null,
  uses: Number(row.uses),
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
});

@CommandHandler(EndLinksMadeBy)
export class EndLinksHandler implements ICommandHandler<EndLinksMadeBy> {
  constructor(
    private readonly links: LinkStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, makers }: EndLinksMadeBy) {
    return { ended: await this.links.revokeMadeBy(workspaceId, makers, instant(this.clock.now())) };
  }
}
