import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { systemClock, type Clock } from '@app/event-sourcing/core/clock.js';
import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';
import { askedTogether } from '../postgres/asked-together.js';
import type { KeyRing } from './key-ring.js';
import type { SealedColumn } from './rewrapping.js';
import { open, seal } from './sealing.js';

/** Opened keys kept at most. */
const OPENED_KEYS = 10_000;

/** Seals and opens what belongs to one reading. Context names the place (`input`, `result`, `artifact:pdf:1`…). */
export interface SubjectKey {
  seal(context: string, plaintext: Uint8Array): Buffer;
  /** @throws SealBroken */
  open(context: string, sealed: Uint8Array): Buffer;
  /**
   * HMAC-SHA-256 under a key that is derived from this one for the purpose (HKDF, RFC 5869): once this key is destroyed,
   * nobody can test by it what the bytes were.
   */
  digest(purpose: string, bytes: Uint8Array): Buffer;
}

interface WrappedKey {
  readonly subjectId: string;
  readonly workspaceId: string;
  readonly wrapped: Buffer;
}

/**
 * One data key per reading, wrapped by the key ring and kept in Postgres only. Destroying the row makes everything
 * sealed with it unreadable, in events, rows and backups of the event store alike.
 */
export class SubjectKeys {
  private readonly opened = new RecentlyUsed<string, { key: SubjectKey; until: number }>(OPENED_KEYS);
  private readonly stored = askedTogether((subjectIds: readonly string[]) => this.select(subjectIds));
  private readonly inserted = askedTogether((keys: readonly WrappedKey[]) => this.insert(keys));

  /**
   * @param cache how long an opened key serves without asking the database again (ms); an erasure takes effect on this
   *   process within it. 0 asks every time.
   */
  constructor(
    private readonly pool: Pool,
    private readonly ring: KeyRing,
    private readonly cache: { readonly clock: Clock; readonly milliseconds: number } = {
      clock: systemClock,
      milliseconds: 0,
    },
  ) {}

  /** Makes the key of a subject, or returns the one it has: durable before anything is sealed with it. */
  async create(subjectId: string, workspaceId: string): Promise<SubjectKey> {
    const key = randomBytes(32);
    const wrapped = this.ring.seal(wrapContext(subjectId, workspaceId), key);
    if (await this.inserted({ subjectId, workspaceId, wrapped }))
      return subjectKey(subjectId, workspaceId, key);
    const existing = await this.read(subjectId);
    if (!existing) throw new Error('The key of a subject vanished while it was being made');
    return existing;
  }

  /** `null` when the subject has no key, or was erased. */
  async find(subjectId: string): Promise<SubjectKey | null> {
    const now = this.cache.clock.now();
    const known = this.opened.get(subjectId);
    if (known && known.until > now) return known.key;
    const key = await this.read(subjectId);
    if (key && this.cache.milliseconds > 0)
      this.opened.set(subjectId, { key, until: now + this.cache.milliseconds });
    return key;
  }

  /** Destroys the key of a subject for ever; other processes forget theirs within their cache's time. */
  async destroy(subjectId: string): Promise<void> {
    await this.pool.query('delete from platform.subject_key where subject_id = $1', [subjectId]);
    this.opened.delete(subjectId);
  }

  private async read(subjectId: string): Promise<SubjectKey | null> {
    const row = await this.stored(subjectId);
    if (!row) return null;
    const { workspaceId, wrapped } = row;
    return subjectKey(subjectId, workspaceId, this.ring.open(wrapContext(subjectId, workspaceId), wrapped));
  }

  private async select(subjectIds: readonly string[]): Promise<readonly (WrappedKey | null)[]> {
    const { rows } = await this.pool.query<WrappedKey>({
      name: 'subject-keys',
      text: `select subject_id as "subjectId", workspace_id as "workspaceId", wrapped_key as wrapped
             from platform.subject_key where subject_id = any($1::uuid[])`,
      values: [subjectIds],
    });
    const byId = new Map(rows.map((row) => [row.subjectId, row]));
    return subjectIds.map((subjectId) => byId.get(subjectId) ?? null);
  }

  /** Tells of each key whether it is now the one of its subject. */
  private async insert(keys: readonly WrappedKey[]): Promise<readonly boolean[]> {
    const { rows } = await this.pool.query<{ wrapped: Buffer }>({
      name: 'insert-subject-keys',
      text: `insert into platform.subject_key (subject_id, workspace_id, wrapped_key)
             select * from unnest($1::uuid[], $2::text[], $3::bytea[]) order by 1
             on conflict (subject_id) do nothing returning wrapped_key as wrapped`,
      values: [
        keys.map(({ subjectId }) => subjectId),
        keys.map(({ workspaceId }) => workspaceId),
        keys.map(({ wrapped }) => wrapped),
      ],
    });
    const kept = new Set(rows.map(({ wrapped }) => wrapped.toString('base64')));
    return keys.map(({ wrapped }) => kept.has(wrapped.toString('base64')));
  }
}

const wrapContext = (subjectId: string, workspaceId: string): string =>
  `subject-key|${subjectId}|${workspaceId}`;

/** Where the wrapped keys are, for a rotation of the key-encryption key. */
export const SUBJECT_KEY_COLUMN: SealedColumn = {
  table: 'platform.subject_key',
  id: 'subject_id',
  sealed: 'wrapped_key',
  owner: ['workspace_id'],
  context: (subjectId, [workspaceId = '']) => wrapContext(subjectId, workspaceId),
};

const subjectKey = (subjectId: string, workspaceId: string, key: Buffer): SubjectKey => ({
  seal: (context, plaintext) => seal(key, `${subjectId}|${workspaceId}|${context}`, plaintext),
  open: (context, sealed) => open(key, `${subjectId}|${workspaceId}|${context}`, sealed),
  digest: (purpose, bytes) => keyedDigest(key, purpose, bytes),
});

/** What `SubjectKey.digest` answers for the key itself. */
export const keyedDigest = (key: Uint8Array, purpose: string, bytes: Uint8Array): Buffer =>
  createHmac('sha256', new Uint8Array(hkdfSync('sha256', key, '', `digest|${purpose}`, 32)))
    .update(bytes)
    .digest();
