import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { askedTogether } from '../postgres/asked-together.js';
import type { SealedColumn } from './rewrapping.js';
import { SealBroken, open, seal } from './sealing.js';
import {
  KeyDestroyed,
  KeyNotHeld,
  KeysUnavailable,
  splitKeyId,
  withKeyId,
  type WrappingKeys,
} from './wrapping-keys.js';

/** Attempts: an epoch can end between wrapping a key and storing it, but the next one does not end at once. */
const WRAPPINGS = 3;

/** Seals and opens the data of one reading. `context` names the place (`input`, `result`, `artifact:pdf:1`…). */
export interface SubjectKey {
  seal(context: string, plaintext: Uint8Array): Buffer;
  /** @throws SealBroken */
  open(context: string, sealed: Uint8Array): Buffer;
  /**
   * HMAC-SHA-256 with a key derived from this one for the purpose (HKDF, RFC 5869). Once this key is destroyed, nobody
   * can use the digest to test a guess.
   */
  digest(purpose: string, bytes: Uint8Array): Buffer;
}

interface WrappedKey {
  readonly subjectId: string;
  readonly workspaceId: string;
  readonly wrapped: Buffer;
}

interface NewKey extends WrappedKey {
  /** Of the wrapping key, if it has one. */
  readonly epoch: string | null;
  readonly fingerprint: Buffer | null;
  readonly lookup: Buffer | null;
}

/**
 * One data key per reading, wrapped by a key-encryption key and kept only in PostgreSQL. Nothing sealed with it opens
 * once either the row with all its copies in PostgreSQL's log and backups, or the key of the last epoch that wrapped
 * it, is gone. docs/operations.md says when that is.
 */
export class SubjectKeys {
  /** The keys that a page of a list shows are found in one statement. */
  private readonly stored = askedTogether((subjectIds: readonly string[]) => this.select(subjectIds));
  /** One statement, and one write to the disk, for all readings that are ordered at the same moment. */
  private readonly insert = askedTogether((made: readonly NewKey[]) => this.insertAll(made));

  constructor(
    private readonly pool: Pool,
    private readonly wrapping: WrappingKeys,
  ) {}

  /** Checks that a key could be made now, without making one. @throws KeysUnavailable */
  async ready(): Promise<void> {
    await this.wrapping.current();
  }

  /**
   * Makes the key of a subject, or returns the existing one: durable before anything is sealed with it. Refreshes the
   * creation time of an existing key, so that the sweep does not treat it as abandoned.
   * @param lookup keyed digest by which the subject is found from now on, until its key is destroyed. Requests for one
   *   subject may bring several. So a subject that is found must still be checked.
   * @throws KeysUnavailable
   */
  async create(subjectId: string, workspaceId: string, lookup: Buffer | null = null): Promise<SubjectKey> {
    const key = randomBytes(32);
    for (let wrapping = 1; wrapping <= WRAPPINGS; wrapping += 1) {
      const { id, key: wrappingKey, fingerprint } = await this.wrapping.current();
      const wrapped = withKeyId(id, seal(wrappingKey, wrapContext(subjectId, workspaceId), key));
      const epoch = fingerprint === null ? null : id;
      const kept = await this.insert({ subjectId, workspaceId, wrapped, epoch, fingerprint, lookup });
      if (kept?.wrapped.equals(wrapped)) return subjectKey(subjectId, workspaceId, key);
      const known = kept && (await this.usable(kept));
      if (known) return known;
      // Nothing opens it any more, so a new one replaces it.
      if (kept) await this.remove(kept);
    }
    throw new KeysUnavailable('The epochs of key-encryption keys end before a key can be stored');
  }

  /**
   * `null` when the subject has no key, or was erased.
   * @throws KeysUnavailable; KeyNotHeld when no key-encryption key of this process opens it
   */
  async find(subjectId: string): Promise<SubjectKey | null> {
    const row = await this.stored(subjectId);
    return row && this.usable(row);
  }

  /** Destroys the key of a subject permanently. */
  async destroy(subjectId: string): Promise<void> {
    await this.pool.query('delete from platform.subject_key where subject_id = $1', [subjectId]);
  }

  /**
   * `null` when the key that wrapped it was destroyed: a row restored from a backup counts as erased then.
   * @throws KeysUnavailable, KeyNotHeld
   */
  private async usable({ subjectId, workspaceId, wrapped }: WrappedKey): Promise<SubjectKey | null> {
    try {
      const { id, sealed } = splitKeyId(wrapped);
      const key = open(await this.wrapping.named(id), wrapContext(subjectId, workspaceId), sealed);
      return subjectKey(subjectId, workspaceId, key);
    } catch (error) {
      if (error instanceof KeyDestroyed) return null;
      if (error instanceof SealBroken) throw new KeyNotHeld(error.message, { cause: error });
      throw error;
    }
  }

  private async remove({ subjectId, wrapped }: WrappedKey): Promise<void> {
    const text = 'delete from platform.subject_key where subject_id = $1 and wrapped_key = $2';
    await this.pool.query(text, [subjectId, wrapped]);
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

  /** @returns the key that each subject has now; `null`: the epoch has ended, and nothing was stored */
  private async insertAll(made: readonly NewKey[]): Promise<readonly (WrappedKey | null)[]> {
    // No statement changes a row twice: repeats of one request store their keys one after the other.
    const unique = new Map(made.map((one) => [one.subjectId, one]));
    const keys = [...unique.values()];
    const { rows } = await this.pool.query<WrappedKey>({
      name: 'insert-subject-keys',
      text: `insert into platform.subject_key as stored (subject_id, workspace_id, wrapped_key, lookups)
             select subject_id, workspace_id, wrapped_key, case when lookup is not null then array[lookup] end
             from unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[], $5::bytea[], $6::bytea[])
               as made (subject_id, workspace_id, wrapped_key, epoch, fingerprint, lookup)
             where made.epoch is null or exists (
               select from platform.key_epoch
               where key_epoch.epoch = made.epoch and key_epoch.fingerprint = made.fingerprint
                 and ends_at > clock_timestamp() and destroyed_at is null)
             order by subject_id
             on conflict (subject_id) do update set created_at = now(),
               lookups = case when stored.lookups @> excluded.lookups then stored.lookups
                              else stored.lookups || excluded.lookups end
             returning subject_id as "subjectId", workspace_id as "workspaceId", wrapped_key as wrapped`,
      values: [
        keys.map(({ subjectId }) => subjectId),
        keys.map(({ workspaceId }) => workspaceId),
        keys.map(({ wrapped }) => wrapped),
        keys.map(({ epoch }) => epoch),
        keys.map(({ fingerprint }) => fingerprint),
        keys.map(({ lookup }) => lookup),
      ],
    });
    const kept = new Map(rows.map((row) => [row.subjectId, row]));
    const stored = new Map(keys.map((one) => [one, kept.get(one.subjectId) ?? null]));
    const repeats = made.filter((one) => !stored.has(one));
    if (repeats.length > 0)
      for (const [place, row] of (await this.insertAll(repeats)).entries()) stored.set(repeats[place]!, row);
    return made.map((one) => stored.get(one)!);
  }
}

const wrapContext = (subjectId: string, workspaceId: string): string =>
  `subject-key|${subjectId}|${workspaceId}`;

/** Where the wrapped keys are stored, for rewrapping. */
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

/** The result of `SubjectKey.digest` for the raw key. */
export const keyedDigest = (key: Uint8Array, purpose: string, bytes: Uint8Array): Buffer =>
  createHmac('sha256', new Uint8Array(hkdfSync('sha256', key, '', `digest|${purpose}`, 32)))
    .update(bytes)
    .digest();
