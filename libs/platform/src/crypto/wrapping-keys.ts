import { StoreUnavailable } from '#event-sourcing/store/errors.js';

/** A key-encryption key and its id, which prefixes everything it sealed. */
export interface WrappingKey {
  readonly id: string;
  readonly key: Buffer;
  /**
   * Distinguishes it from another key of its epoch; `null` without an epoch. The database refuses rows that it wrapped
   * once the epoch has ended or has a different key.
   */
  readonly fingerprint: Buffer | null;
}

/** The key-encryption keys of data keys: one wraps, every existing one opens. */
export interface WrappingKeys {
  /** The key that wraps now. @throws KeysUnavailable */
  current(): Promise<WrappingKey>;
  /** @throws KeyDestroyed, KeysUnavailable, or SealBroken for an unknown id */
  named(id: string): Promise<Buffer>;
}

/** The keeper of the key-encryption keys is unreachable, or lacks a key that it should have. */
export class KeysUnavailable extends StoreUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, false, options);
  }
}

/**
 * This process has no key-encryption key that opens a wrapped data key. Another process may have it: during a rotation,
 * some have restarted with the new key and some have not.
 */
export class KeyNotHeld extends KeysUnavailable {}

/** The key of an epoch was destroyed on purpose: what it wrapped can never be opened again. */
export class KeyDestroyed extends Error {
  override readonly name = 'KeyDestroyed';
}

/** Sealed bytes start with the id of their key: one length byte, then that many ASCII characters. */
export const withKeyId = (id: string, sealed: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([id.length]), Buffer.from(id, 'ascii'), sealed]);

/** The id of the sealing key, and the sealed bytes. */
export const splitKeyId = (bytes: Uint8Array): { readonly id: string; readonly sealed: Uint8Array } => {
  const end = 1 + (bytes[0] ?? 0);
  return { id: Buffer.from(bytes.subarray(1, end)).toString('ascii'), sealed: bytes.subarray(end) };
};
