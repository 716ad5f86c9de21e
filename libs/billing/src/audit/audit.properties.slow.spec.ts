import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import fc from 'fast-check';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { instant } from '#event-sourcing/core/clock.js';
import { fold } from '#event-sourcing/core/decider.js';
import { rounds, seedOr } from '../../../../test/support/rounds.js';
import { CreditBooks } from '../application/credit-books.js';
import { createCreditsExecutor } from '../executors.js';
import { creditsEvents } from '../contracts/events.js';
import { balanceOf } from '../domain/postings.js';
import type { CreditsCommand } from '../domain/credits.commands.js';
import { credits } from '../domain/credits.decider.js';
import { holdOf, isSettled, noBook, type Credits } from '../domain/credits.state.js';
import { STREAM, WS } from '../../test/book.js';
import { commands } from '../../test/commands.js';
import { writeReading } from '../../test/readings.js';
import { Reconciler } from '../../test/reconciler.js';
import { BookVerifier } from './verify-book.js';

/**
 * A workspace's book as the service writes it. Two processes alternate, every settlement follows an event of its
 * reading, and each command runs twice, like a retry.
 */
const written = async (sequence: readonly CreditsCommand[]): Promise<InMemoryEventStore> => {
  const store = new InMemoryEventStore();
  let now = sequence[0]?.now ?? 0;
  const processes = [
    new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => now }),
    new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => now }),
  ];
  const by = { actor: 'operator:ada', correlationId: 'c', causationId: 'c' };
  const carryOut = async (command: CreditsCommand, name: string, process: number): Promise<void> => {
    await processes[process % 2]!.execute(WS, (at) => ({ ...command, now: at }), name, by);
  };
  await carryOut({ type: 'OpenBook', workspaceId: WS, now }, 'open', 0);
  const settled = new Set<string>();
  for (const [index, command] of sequence.entries()) {
    // A clock that is hours behind is refused.
    if (command.now < now) continue;
    now = command.now;
    const book = (await processes[0]!.current(WS))!;
    if (command.type === 'ReserveCredits' && isForgotten(command.reservationId, book, settled)) continue;
    if (command.type === 'CaptureCredits' || command.type === 'ReleaseCredits') {
      const hold = holdOf(book, command.reservationId);
      if (hold) {
        const end = command.type === 'CaptureCredits' ? 'ReadingCompleted' : 'ReadingFailed';
        await writeReading(store, hold.reservationId, end, instant(now), hold.amount);
        settled.add(hold.reservationId);
      }
      const causeEventId = `end-${command.reservationId}`;
      for (const process of [0, 1]) await carryOut({ ...command, causeEventId }, `c${index}`, process);
    } else if (command.type === 'ReserveCredits') {
      const readingId = `reading-${command.reservationId}`;
      for (const process of [0, 1]) await carryOut({ ...command, readingId }, `c${index}`, process);
    } else {
      for (const process of [0, 1]) await carryOut(command, `c${index}`, process);
    }
  }
  return store;
};

/** A request reads its reading first, so it never repeats a reservation that its book has long forgotten. */
const isForgotten = (reservationId: string, book: Credits, settled: ReadonlySet<string>): boolean =>
  settled.has(reservationId) && !isSettled(book, reservationId);

it('Any book that is written verifies from its raw stream and reconciles with its readings', async () => {
  const property = fc.asyncProperty(commands, async (sequence) => {
    const store = await written(sequence);
    const verifier = new BookVerifier(STREAM, 10_000);
    const book = store.log.filter(({ stream }) => stream === STREAM);
    for (const event of book) verifier.see(event);
    assert.deepEqual(verifier.report().findings, []);

    const state = fold(
      credits,
      noBook,
      book.map((event) => decode(creditsEvents, event)),
    );
    const row = { revision: book.at(-1)!.revision, balance: balanceOf(state) };
    const reconciler = new Reconciler(null, new Map([[WS, row]]));
    for (const event of store.log) reconciler.see(event);
    assert.deepEqual(reconciler.report(Infinity).differences, []);
  });
  await fc.assert(property, { numRuns: rounds(200, 10_000), seed: seedOr(20261120) });
}, 900_000);
