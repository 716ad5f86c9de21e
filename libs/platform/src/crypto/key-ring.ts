import type { EncryptionKey } from '../config/settings.js';
import { SealBroken, open, seal } from './sealing.js';

/**
 * The key-encryption keys. The first seals; any opens, so that a rotation needs no stop. Sealed bytes begin with the
 * id of their key: one length byte, the id, then the sealed part.
 */
export class KeyRing {
  constructor(private readonly keys: readonly EncryptionKey[]) {
    if (keys.length === 0) throw new TypeError('A key ring needs a key');
  }

  get currentKeyId(): string {
    return this.keys[0]!.id;
  }

  seal(context: string, plaintext: Uint8Array): Buffer {
    const { id, key } = this.keys[0]!;
    return Buffer.concat([Buffer.from([id.length]), Buffer.from(id, 'ascii'), seal(key, context, plaintext)]);
  }

  /** @throws SealBroken when no key of the ring opens it */
  open(context: string, sealed: Uint8Array): Buffer {
    const length = sealed[0] ?? 0;
    const id = Buffer.from(sealed.subarray(1, 1 + length)).toString('ascii');
    const found = this.keys.find((key) => key.id === id);
    if (!found) throw new SealBroken(`No encryption key named ${id} is configured`);
    return open(found.key, context, sealed.subarray(1 + length));
  }
}
