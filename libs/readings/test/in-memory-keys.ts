import { randomBytes } from 'node:crypto';
import { keyedDigest, type SubjectKey, type SubjectKeys } from '#platform/crypto/subject-keys.js';
import { open, seal } from '#platform/crypto/sealing.js';

/** The keys of readings without a database: real sealing, keys in memory. */
export class InMemoryKeys implements Pick<SubjectKeys, 'create' | 'find' | 'ready' | 'destroy'> {
  readonly keys = new Map<string, Buffer>();

  async ready(): Promise<void> {
    // Keys in memory need no preparation.
  }

  async create(subjectId: string): Promise<SubjectKey> {
    if (!this.keys.has(subjectId)) this.keys.set(subjectId, randomBytes(32));
    return (await this.find(subjectId))!;
  }

  async destroy(subjectId: string): Promise<void> {
    this.keys.delete(subjectId);
  }

  async find(subjectId: string): Promise<SubjectKey | null> {
    const key = this.keys.get(subjectId);
    return key
      ? {
          seal: (context, plaintext) => seal(key, context, plaintext),
          open: (context, sealed) => open(key, context, sealed),
          digest: (purpose, bytes) => keyedDigest(key, purpose, bytes),
        }
      : null;
  }
}
