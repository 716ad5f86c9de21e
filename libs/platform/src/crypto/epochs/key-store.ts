/** The keeper of epoch keys, apart from PostgreSQL: a folder of files. Another one, such as a KMS, is an adapter of this. */
export interface EpochKeyStore {
  readonly provider: 'file';
  /**
   * Makes the key of an epoch, or returns the existing one: concurrent processes get the same key. `stored` goes into
   * PostgreSQL, and opens nothing without what this store keeps.
   * @throws KeysUnavailable, also for an epoch whose key was destroyed
   */
  make(epoch: string): Promise<{ readonly key: Buffer; readonly stored: Buffer | null }>;
  /**
   * `destroyed` only when the store itself remembers destroying the key. An absent key may only mean an unmounted
   * volume, and must not count as an erasure.
   * @throws KeysUnavailable
   */
  open(epoch: string, stored: Buffer | null): Promise<Buffer | 'destroyed' | 'missing'>;
  /** Destroys the key permanently, and remembers it. Idempotent. @throws KeysUnavailable */
  destroy(epoch: string): Promise<void>;
  /** Epochs whose keys still exist. @throws KeysUnavailable */
  list(): Promise<readonly string[]>;
  /** How many keys each of ENCRYPTION_KEYS has sealed here, by its id. */
  sealedBy(): Promise<ReadonlyMap<string, number>>;
  /** Seals again with the first of ENCRYPTION_KEYS what others of them sealed. @returns how many */
  reseal(): Promise<number>;
}
