import { StoreUnavailable } from '@app/event-sourcing/store/errors.js';

/** A key-encryption key and its name, which goes before everything that it sealed. */
export interface WrappingKey {
  readonly id: string;
  readonly key: Buffer;
  /**
   * Tells it apart from another key of its epoch; `null` when it is of none. The database takes no row that it wrapped once
   * the epoch has ended, or has another key.
   */
  readonly fingerprint: Buffer | null;
}

/** The key-encryption keys of data keys: one wraps, every one that still exists opens. */
export interface WrappingKeys {
  /** The one that wraps now. @throws KeysUnavailable */
  current(): Promise<WrappingKey>;
  /** @throws KeyDestroyed, KeysUnavailable, or SealBroken for a name that nobody knows */
  named(id: string): Promise<Buffer>;
  /** Asks anew which one wraps: the database refused what the one known so far had wrapped. */
  renew(): void;
  /**
   * The key of that name when it is another one than the one known so far, as after a failover that lost the newest rows;
   * `null` when it is the same. @throws KeyDestroyed, KeysUnavailable
   */
  other(id: string, than: Buffer): Promise<Buffer | null>;
}

/** Whoever keeps the key-encryption keys cannot be reached, or does not have a key that should be there. */
export class KeysUnavailable extends StoreUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, false, options);
  }
}

/** The key of an epoch was destroyed on purpose: what it wrapped can never be opened again. */
export class KeyDestroyed extends Error {
  override readonly name = 'KeyDestroyed';
}

/** Sealed bytes begin with the id of their key: one length byte, then so many ASCII characters. */
export const withKeyId = (id: string, sealed: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([id.length]), Buffer.from(id, 'ascii'), sealed]);

/** The id of the key that sealed, and what it sealed. */
export const splitKeyId = (bytes: Uint8Array): { readonly id: string; readonly sealed: Uint8Array } => {
  const end = 1 + (bytes[0] ?? 0);
  return { id: Buffer.from(bytes.subarray(1, end)).toString('ascii'), sealed: bytes.subarray(end) };
};
