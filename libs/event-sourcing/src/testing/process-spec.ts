import assert from 'node:assert/strict';
import { decodeAny } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import type { Process, Reaction } from '../processes/process.js';

/**
 * `given(process, event).thenSends(command(…))` specifies a process in one sentence. The process's catalogues decode
 * the event, as in a worker. Without arguments, `thenSends` expects no reaction. Throws AssertionError.
 */
export const given = <Command>(process: Process<Command>, event: StoredEvent) => {
  const decoded = decodeAny(process.catalogues, event);
  const reactions = decoded === null ? [] : process.react(decoded);
  return {
    thenSends: (...expected: readonly Reaction<Command>[]): void =>
      assert.deepStrictEqual([...reactions], [...expected]),
  };
};
