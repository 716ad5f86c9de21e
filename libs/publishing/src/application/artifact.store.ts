import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { openPadded, paddedLength, sealPadded } from '#platform/padding/padding.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import type { DocumentFormat, PublicationEvent } from '../contracts/index.js';

/** `art_` and a UUID: the same for every attempt at a version. */
export const artifactIdOf = (readingId: string, version: number): string =>
  `art_${uuid5(readingId, 'artifact', String(version))}`;

type Published = Extract<PublicationEvent, { type: 'DocumentPublished' }>['data'];
export type FormatSummary = Published['formats'][number];

/** What is stored of a version, as its event records it. */
export type StoredVersion = Pick<Published, 'formats' | 'contentVersion'>;

export interface Artifact {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

export const MEDIA_TYPES: Readonly<Record<DocumentFormat, string>> = {
  document_v1: 'application/json',
  markdown: 'text/markdown; charset=utf-8',
  pdf: 'application/pdf',
};

/** Documents are padded to a multiple of these bytes. Almost all fit into one step, PDFs into two. */
const STEPS: Readonly<Record<DocumentFormat, number>> = {
  document_v1: 65_536,
  markdown: 32_768,
  pdf: 131_072,
};

interface Edition {
  readonly readingId: string;
  readonly version: number;
  readonly artifactId: string;
  readonly contentVersion: string;
}

interface SealedArtifact {
  readonly media_type: string;
  /** Base64: shorter and faster to decode than the hexadecimal that pg receives for bytea. */
  readonly sealed: string;
}

const SUMMARY = 'format, media_type as "mediaType", digest, bytes, content_version as "contentVersion"';

type SummaryRow = FormatSummary & Pick<StoredVersion, 'contentVersion'>;

const storedVersion = (rows: readonly SummaryRow[]): StoredVersion => ({
  formats: rows
    .map(({ contentVersion: _, ...summary }) => summary)
    .toSorted((one, other) => (one.format < other.format ? -1 : 1)),
  contentVersion: rows[0]!.contentVersion,
});

/** Published bytes, sealed with the reading's key. */
@Injectable()
export class ArtifactStore {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    private readonly keys: SubjectKeys,
  ) {}

  /**
   * Stores formats of one version unless they exist, and returns a summary of what is stored; `null` when the key is
   * gone. Locks the key's row meanwhile: an erasure waits, and then deletes these formats too.
   * @param edition.contentVersion of the texts that the formats were made from
   */
  async put(
    { readingId, version, artifactId, contentVersion }: Edition,
    rendered: Readonly<Partial<Record<DocumentFormat, Uint8Array>>>,
  ): Promise<StoredVersion | null> {
    const key = await this.keys.find(readingId);
    if (!key) return null;
    const formats = Object.entries(rendered) as [DocumentFormat, Uint8Array][];
    // One parameter per value: pg would send bytes in an array as text, twice as long.
    const places = formats.map(
      (_, row) =>
        `($${5 + 5 * row}::text, $${6 + 5 * row}::text, $${7 + 5 * row}::text, $${8 + 5 * row}::integer, $${9 + 5 * row}::bytea)`,
    );
    const stored = await this.pool.query<SummaryRow>({
      name: `put-artifacts ${formats.length}`,
      text: `with held as (select from platform.subject_key where subject_id = $2::uuid for key share)
             insert into publishing.artifact
               (artifact_id, reading_id, version, content_version, format, media_type, digest, bytes, sealed)
             select $1::text, $2::uuid, $3::integer, $4::text, one.* from (values ${places.join(', ')}) as one
             where exists (select from held)
             on conflict do nothing returning ${SUMMARY}`,
      values: [
        artifactId,
        readingId,
        version,
        contentVersion,
        ...formats.flatMap(([format, bytes]) => [
          format,
          MEDIA_TYPES[format],
          key.digest('artifact', bytes).toString('hex'),
          paddedLength(bytes.length, STEPS[format]),
          sealPadded(key, context(format, version), STEPS[format], bytes),
        ]),
      ],
    });
    if (stored.rows.length === formats.length) return storedVersion(stored.rows);
    const { rows } = await this.pool.query<SummaryRow>(
      `select ${SUMMARY} from publishing.artifact where reading_id = $1 and version = $2`,
      [readingId, version],
    );
    return rows.length < formats.length ? null : storedVersion(rows);
  }

  /** The formats that are stored, by version. */
  async stored(readingId: string): Promise<ReadonlyMap<number, readonly string[]>> {
    const { rows } = await this.pool.query<{ version: number; formats: string[] }>(
      `select version, array_agg(format) as formats from publishing.artifact where reading_id = $1 group by version`,
      [readingId],
    );
    return new Map(rows.map(({ version, formats }) => [version, formats]));
  }

  /** Whether bytes have this digest under the reading's key; `null` when the key is gone. */
  async matches(readingId: string, bytes: Uint8Array, digest: string): Promise<boolean | null> {
    const key = await this.keys.find(readingId);
    return key && key.digest('artifact', bytes).toString('hex') === digest;
  }

  /** Deletes all artifacts of a reading that is erased, or about to be. */
  async discard(readingId: string): Promise<void> {
    await this.pool.query('delete from publishing.artifact where reading_id = $1', [readingId]);
  }

  /** Returns `null` when its key was destroyed; `lost` when it is not stored although its key is there. */
  async get(readingId: string, version: number, format: DocumentFormat): Promise<Artifact | 'lost' | null> {
    const { rows } = await this.pool.query<SealedArtifact>({
      name: 'artifact',
      text: `select media_type, encode(sealed, 'base64') as sealed from publishing.artifact
             where reading_id = $1 and version = $2 and format = $3`,
      values: [readingId, version, format],
    });
    const key = await this.keys.find(readingId);
    if (!key) return null;
    const [row] = rows;
    if (!row) return 'lost';
    return {
      mediaType: row.media_type,
      bytes: openPadded(key, context(format, version), Buffer.from(row.sealed, 'base64')),
    };
  }
}

const context = (format: DocumentFormat, version: number): string => `artifact|${format}|${version}`;
