/** Who keeps the keys of epochs, apart from PostgreSQL: a folder of files, or a KMS. */
export interface EpochKeyStore {
  readonly provider: 'file' | 'vault';
  /**
   * Makes the key of an epoch, or gives the one it has: however many processes ask at once, one key counts. `stored`
   * goes into PostgreSQL, and opens nothing without what this store keeps.
   * @throws KeysUnavailable, also for an epoch whose key was destroyed
   */
  make(epoch: string): Promise<{ readonly key: Buffer; readonly stored: Buffer | null }>;
  /**
   * `destroyed` only when the store itself remembers that it destroyed the key: what is merely not there may be a volume
   * that is not mounted, and would turn into an erasure.
   * @throws KeysUnavailable
   */
  open(epoch: string, stored: Buffer | null): Promise<Buffer | 'destroyed' | 'missing'>;
  /** Destroys the key for ever, and remembers that. May be repeated. @throws KeysUnavailable */
  destroy(epoch: string): Promise<void>;
  /** Epochs whose keys are still there. @throws KeysUnavailable */
  list(): Promise<readonly string[]>;
  /** How many keys each of ENCRYPTION_KEYS has sealed here, by its id. */
  sealedBy(): Promise<ReadonlyMap<string, number>>;
  /** Seals with the first of ENCRYPTION_KEYS what another of them sealed; how many that were. */
  reseal(): Promise<number>;
}
