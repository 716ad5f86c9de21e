import { Command, Query } from '@nestjs/cqrs';
import type { Rewrapped } from '@app/platform/crypto/rewrapping.js';

/** How many signing secrets each key-encryption key sealed, by the key's id. */
export class CountSecretsByKey extends Query<ReadonlyMap<string, number>> {}

/** Seals with the current key-encryption key the signing secrets that another one sealed. */
export class RewrapSecrets extends Command<Rewrapped> {
  /** @param onProgress is told how many secrets have been looked at */
  constructor(readonly onProgress: (seen: number) => void = () => undefined) {
    super();
  }
}
