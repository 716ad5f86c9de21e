import { Command, Query } from '#platform/cqrs/message.js';

/** How many signing secrets and custom headers each key-encryption key sealed, by the key's id. */
export class CountSecretsByKey extends Query<ReadonlyMap<string, number>> {}

export interface RewrappedSecrets {
  readonly rewrapped: number;
  /** References of those that no configured key opens. They stay unchanged. */
  readonly unopened: readonly string[];
}

/** Seals signing secrets and custom headers with the current key-encryption key if another one sealed them. */
export class RewrapSecrets extends Command<RewrappedSecrets> {
  /** @param onProgress receives the number processed so far, of secrets and then of headers */
  constructor(readonly onProgress: (seen: number) => void = () => undefined) {
    super();
  }
}
