import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { SubjectKeys } from '@app/platform/crypto/subject-keys.js';
import { askedTogether } from '@app/platform/postgres/asked-together.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import type { DocumentFormat, PublicationEvent } from '../contracts/events.js';

export type FormatSummary = Extract<
  PublicationEvent,
  { type: 'DocumentPublished' }
>['data']['formats'][number];

export interface Artifact {
  readonly mediaType: string;
  readonly sha256: string;
  readonly bytes: Buffer;
}

export const MEDIA_TYPES: Readonly<Record<DocumentFormat, string>> = {
  document_v1: 'application/json',
  markdown: 'text/markdown; charset=utf-8',
  pdf: 'application/pdf',
};

interface Wanted {
  readonly readingId: string;
  readonly version: number;
  readonly format: DocumentFormat;
}

interface SealedArtifact {
  readonly media_type: string;
  readonly sha256: string;
  /** In Base64, which is shorter and sooner decoded than the hexadecimal digits that pg gets for bytea. */
  readonly sealed: string;
}

const SUMMARY = 'format, media_type as "mediaType", sha256, bytes';
const inOrder = (summaries: readonly FormatSummary[]): FormatSummary[] =>
  summaries.toSorted((one, other) => (one.format < other.format ? -1 : 1));

/** Artifacts read in one statement at most: each has up to 250 kB. */
const READ_TOGETHER = 16;

/** Published bytes, sealed with the reading's key. */
@Injectable()
export class ArtifactStore {
  private readonly sealed = askedTogether((wanted: readonly Wanted[]) => this.read(wanted), {
    most: READ_TOGETHER,
  });

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    private readonly keys: SubjectKeys,
  ) {}

  /** Stores the formats of one version unless they are there, and tells what is stored. @throws when the key is gone */
  async put(
    { readingId, version, artifactId }: { readingId: string; version: number; artifactId: string },
    rendered: Readonly<Record<DocumentFormat, Uint8Array>>,
  ): Promise<FormatSummary[]> {
    const key = await this.keys.find(readingId);
    if (!key) throw new Error('The key of this reading was destroyed');
    const formats = Object.entries(rendered) as [DocumentFormat, Uint8Array][];
    // A parameter for each: bytes within an array would go as text, twice as long.
    const places = formats.map(
      (_, row) => `($1, $2, $3, ${[4, 5, 6, 7, 8].map((n) => `$${n + 5 * row}`).join(', ')})`,
    );
    const stored = await this.pool.query<FormatSummary>({
      name: 'put-artifacts',
      text: `insert into publishing.artifact (artifact_id, reading_id, version, format, media_type, sha256, bytes, sealed)
             values ${places.join(', ')} on conflict do nothing returning ${SUMMARY}`,
      values: [
        artifactId,
        readingId,
        version,
        ...formats.flatMap(([format, bytes]) => [
          format,
          MEDIA_TYPES[format],
          createHash('sha256').update(bytes).digest('hex'),
          bytes.length,
          key.seal(context(format, version), bytes),
        ]),
      ],
    });
    if (stored.rows.length === formats.length) return inOrder(stored.rows);
    const { rows } = await this.pool.query<FormatSummary>(
      `select ${SUMMARY} from publishing.artifact where reading_id = $1 and version = $2`,
      [readingId, version],
    );
    return inOrder(rows);
  }

  /** `null` when it is not stored, or its key was destroyed. */
  async get(readingId: string, version: number, format: DocumentFormat): Promise<Artifact | null> {
    const row = await this.sealed({ readingId, version, format });
    const key = row && (await this.keys.find(readingId));
    if (!row || !key) return null;
    return {
      mediaType: row.media_type,
      sha256: row.sha256,
      bytes: key.open(context(format, version), Buffer.from(row.sealed, 'base64')),
    };
  }

  private async read(wanted: readonly Wanted[]): Promise<readonly (SealedArtifact | null)[]> {
    const { rows } = await this.pool.query<{ [K in keyof SealedArtifact]: SealedArtifact[K] | null }>({
      name: 'artifacts',
      text: `select media_type, sha256, encode(sealed, 'base64') as sealed
             from unnest($1::uuid[], $2::integer[], $3::text[]) with ordinality as wanted (reading_id, version, format, place)
             left join publishing.artifact using (reading_id, version, format)
             order by wanted.place`,
      values: [
        wanted.map(({ readingId }) => readingId),
        wanted.map(({ version }) => version),
        wanted.map(({ format }) => format),
      ],
    });
    return rows.map((row) => (row.sealed === null ? null : (row as SealedArtifact)));
  }
}

const context = (format: DocumentFormat, version: number): string => `artifact|${format}|${version}`;
