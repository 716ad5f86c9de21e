import { Command, Query } from '@app/platform/cqrs/message.js';

/** How many signing secrets each key-encryption key sealed, by the key's id. */
export class CountSecretsByKey extends Query<ReadonlyMap<string, number>> {}

export interface RewrappedSecrets {
  readonly rewrapped: number;
  /** References of secrets that no configured key opens; they are left as they are. */
  readonly unopened: readonly string[];
}

/** Seals with the current key-encryption key the signing secrets that another one sealed. */
export class RewrapSecrets extends Command<RewrappedSecrets> {
  /** @param onProgress is told how many secrets have been looked at */
  constructor(readonly onProgress: (seen: number) => void = () => undefined) {
    super();
  }
}
