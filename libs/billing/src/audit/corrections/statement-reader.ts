import {
  CorruptEvent,
  decode,
  type EventCatalogue,
  type EventOf,
} from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import type { OperatorRegister } from '../../contracts/operators.js';
import { statementDigest } from '../../domain/signed-text.js';
import { isSignedByOperator } from '../../signatures/signatures.js';

type Data = Readonly<Record<string, unknown>>;
type StatementReader<C extends EventCatalogue> = (
  stored: StoredEvent,
  register: OperatorRegister,
) => Recorded<EventOf<C>> | string;

/**
 * Decodes statements in log order, or says why one does not count. A statement that this program cannot read stops it if
 * an operator signed it: a newer program wrote it, and it may be a revocation. A copy of an earlier statement, and
 * everything else, does not. A quarantine plays no part.
 * @param belongs whether a statement is one of the stream that it stands in
 */
export const statementReader = <C extends EventCatalogue>(
  catalogue: C,
  belongs: (data: Data, stored: StoredEvent) => boolean = () => true,
): StatementReader<C> => {
  const seen = new Set<string>();
  return (stored, register) => {
    const { type, data } = stored;
    const isSigned = isSignedByOperator({ type, data }, register);
    const digest = isSigned ? statementDigest({ type, data: data as Data }) : null;
    try {
      const event = decode(catalogue, stored);
      if (digest !== null) seen.add(digest);
      return event;
    } catch (error) {
      if (!(error instanceof CorruptEvent)) throw error;
      if (digest !== null && !seen.has(digest) && belongs(data as Data, stored)) throw error;
      return error.reason;
    }
  };
};
