import type { EncryptionKey } from '../config/settings.js';
import { SealBroken, open, seal } from './sealing.js';
import { splitKeyId, withKeyId, type WrappingKey, type WrappingKeys } from './wrapping-keys.js';

/**
 * The key-encryption keys of ENCRYPTION_KEYS. The first seals; any opens, so that a rotation needs no downtime. Sealed
 * bytes start with the id of their key: one length byte, the id, then the sealed part.
 */
export class KeyRing implements WrappingKeys {
  constructor(private readonly keys: readonly EncryptionKey[]) {
    if (keys.length === 0) throw new TypeError('A key ring needs at least one key');
  }

  get currentKeyId(): string {
    return this.keys[0]!.id;
  }

  has(id: string): boolean {
    return this.keys.some((key) => key.id === id);
  }

  seal(context: string, plaintext: Uint8Array): Buffer {
    const { id, key } = this.keys[0]!;
    return withKeyId(id, seal(key, context, plaintext));
  }

  /** @throws SealBroken when no key of the ring opens it */
  open(context: string, bytes: Uint8Array): Buffer {
    const { id, sealed } = splitKeyId(bytes);
    return open(this.find(id), context, sealed);
  }

  async current(): Promise<WrappingKey> {
    const { id, key } = this.keys[0]!;
    return { id, key, fingerprint: null };
  }

  async named(id: string): Promise<Buffer> {
    return this.find(id);
  }

  private find(id: string): Buffer {
    const found = this.keys.find((key) => key.id === id);
    if (!found) throw new SealBroken(`No encryption key named ${id} is configured`);
    return found.key;
  }
}
