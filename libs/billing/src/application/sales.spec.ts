import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { OpenBook, PurchasePack, type PackId } from '../contracts/index.js';
import { createCorrectionExecutors, createCreditsExecutor } from '../executors.js';
import { CreditBooks, OpenBookHandler } from './credit-books.js';
import { PurchasePackHandler } from './sales.js';

const clock = { now: () => Date.parse('2026-04-10T12:00:00.000Z') };
const BY = { actor: 'operator:ada', correlationId: 'c', causationId: 'c' };

/** A process that adds packs. */
const processOn = (store: InMemoryEventStore) => {
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), clock);
  const handler = new PurchasePackHandler(books, createCorrectionExecutors(store), clock);
  return {
    open: (ws: string) => new OpenBookHandler(books).execute(new OpenBook(ws, BY)),
    add: (ws: string, pack: PackId, order: string) => handler.execute(new PurchasePack(ws, pack, order, BY)),
  };
};

it('Of many processes that add a pack at once in two workspaces, one workspace gets it, once', async () => {
  const store = new InMemoryEventStore();
  for (const ws of ['ws_1', 'ws_2']) await processOn(store).open(ws);
  const answers = await Promise.all(
    ['ws_1', 'ws_2', 'ws_1', 'ws_2'].map((ws) => processOn(store).add(ws, 'flex', 'INV-7')),
  );
  const outcomes = answers.map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === 'other_workspace')).toHaveLength(2);
  // Two processes may append the same event at once: it is written once, and the store tells both that it is.
  const own = outcomes.filter((outcome) => outcome !== 'other_workspace');
  expect(own).toContain('purchased');
  expect(['purchased', 'already_purchased']).toEqual(expect.arrayContaining(own));
  expect(store.log.filter(({ type }) => type === 'PackPurchased')).toHaveLength(1);
});

it('A pack of an order is not granted again, nor elsewhere, but another pack of the order is', async () => {
  const store = new InMemoryEventStore();
  const process = processOn(store);
  for (const ws of ['ws_1', 'ws_2']) await process.open(ws);
  await process.add('ws_1', 'flex', 'INV-7');
  expect(await process.add('ws_1', 'flex', 'INV-7')).toMatchObject({ outcome: 'already_purchased' });
  expect(await process.add('ws_2', 'flex', 'INV-7')).toEqual({
    outcome: 'other_workspace',
    workspaceId: 'ws_1',
  });
  expect(await process.add('ws_1', 'sprint', 'INV-7')).toMatchObject({ outcome: 'purchased' });
});
