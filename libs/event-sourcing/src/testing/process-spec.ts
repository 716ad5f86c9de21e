import assert from 'node:assert/strict';
import { decodeAny } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import type { Process, Reaction } from '../processes/process.js';

/**
 * `given(process, event).thenSends(command(…))` — a process's specification as one sentence. The event goes through the
 * process's catalogues, as in a worker; no arguments: it reacts with nothing. Throws AssertionError.
 */
export const given = <Command>(process: Process<Command>, event: StoredEvent) => {
  const decoded = decodeAny(process.catalogues, event);
  const reactions = decoded === null ? [] : process.react(decoded);
  return {
    thenSends: (...expected: readonly Reaction<Command>[]): void =>
      assert.deepStrictEqual([...reactions], [...expected]),
  };
};
