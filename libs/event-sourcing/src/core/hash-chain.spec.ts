import { describe, expect, it } from '@jest/globals';
import { CHAIN_START, nextChain, type ChainedFacts } from './hash-chain.js';

const FACTS: ChainedFacts = {
  stream: 'credits-ws_1',
  revision: '9007199254740993',
  eventId: '5d0a5f1e-6f0b-5b6e-9c9d-0d9a3f1c2b4a',
  type: 'CreditsReserved',
  schemaVersion: 1,
  occurredAt: '2026-01-02T03:04:05.006Z',
  data: { amount: 20, lots: [{ id: 'plan', amount: 20 }] },
};

describe('nextChain', () => {
  it('never changes, or recorded chains would no longer verify', () => {
    expect(nextChain(CHAIN_START, FACTS)).toBe(
      'd2a7ec5c5876d1a87a8e941bb86d0d33565039150cb979238c8503257bc5f4bc',
    );
  });
});
