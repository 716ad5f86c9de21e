import { describe, expect, it } from '@jest/globals';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import type { ReadingEvent } from '@app/readings/contracts/index.js';
import type { WorkspaceEvent } from '@app/workspaces/contracts/index.js';
import { SettleReservation } from '../application/settle-reservation/settle-reservation.command.js';
import { OpenBook } from '../contracts/commands.js';
import { bookOpening } from './book-opening.process.js';
import { settlement } from './settlement.process.js';

const recorded = <E extends ReadingEvent | WorkspaceEvent>(stream: string, event: E): Recorded<E> => ({
  ...event,
  id: 'event-7',
  stream,
  revision: 3n,
  position: 700n,
  metadata: {
    correlationId: 'correlation',
    causationId: 'earlier',
    workspaceId: 'ws_1',
    actor: 'system:worker',
    occurredAt: '2026-04-10T12:00:00.000Z',
    schemaVersion: 1,
  },
});
const reactTo = (event: ReadingEvent) => settlement.react(recorded('reading-1', event));
const settle = (how: 'capture' | 'release') => [
  {
    kind: 'command',
    command: new SettleReservation('ws_1', 'r1', how, 'event-7', {
      actor: 'system:billing.settlement',
      correlationId: 'correlation',
      causationId: 'event-7',
    }),
  },
];
const of = { workspaceId: 'ws_1', reservationId: 'r1' };

describe('the settlement process', () => {
  it('captures the reservation of a completed reading', () => {
    const data = { ...of, attempt: 1, sealedResult: 'sealed', resultSha256: '00' };
    expect(reactTo({ type: 'ReadingCompleted', data })).toEqual(settle('capture'));
  });

  it('releases the reservation of a failed reading', () => {
    const data = { ...of, code: 'timed_out', attempts: 5 } as const;
    expect(reactTo({ type: 'ReadingFailed', data })).toEqual(settle('release'));
  });

  it('releases the reservation of an abandoned reading', () => {
    expect(reactTo({ type: 'ReadingAbandoned', data: { ...of, reason: 'late' } })).toEqual(settle('release'));
  });

  it('does nothing about a reading that is under way', () => {
    const data = { attempt: 1, workerId: 'w', leaseUntil: '2026-04-10T12:01:00.000Z' };
    expect(reactTo({ type: 'ReadingStarted', data })).toEqual([]);
  });
});

describe('the book-opening process', () => {
  it('opens a book for every workspace, and for nothing else', () => {
    const data = { workspaceId: 'ws_1', name: 'Atelier' };
    expect(bookOpening.react(recorded('workspace-ws_1', { type: 'WorkspaceOpened', data }))).toEqual([
      {
        kind: 'command',
        command: new OpenBook('ws_1', {
          actor: 'system:billing.book-opening',
          correlationId: 'correlation',
          causationId: 'event-7',
        }),
      },
    ]);
    const revoked = { type: 'ApiKeyRevoked', data: { keyId: 'k1', reason: null } } as const;
    expect(bookOpening.react(recorded('workspace-ws_1', revoked))).toEqual([]);
  });
});
