import { describe, it } from '@jest/globals';
import { command } from '#event-sourcing/processes/process.js';
import { given } from '#event-sourcing/testing/process-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import type { PublicationEvent } from '#publishing/contracts/index.js';
import type { WorkspaceEvent } from '#workspaces/contracts/index.js';
import { SettleReservation } from './application/reservations.js';
import { OpenBook } from './contracts/commands.js';
import { documentRefunds, bookOpening, settlement } from './processes.js';

const by = (process: string) => ({
  actor: `system:billing.${process}`,
  correlationId: 'correlation',
  causationId: 'event-1',
});

describe('the settlement process', () => {
  const reading = (event: ReadingEvent) => {
    const schemaVersion = readingEvents.definitions[event.type].version;
    return recorded('reading-1', event, { metadata: { schemaVersion } });
  };
  const settle = (how: 'capture' | 'release') =>
    command(new SettleReservation('ws_1', 'r1', true, how, 'event-1', by('settlement')));
  const of = { workspaceId: 'ws_1', livemode: true, reservationId: 'r1' };

  it('captures the reservation of a completed reading', () => {
    const data = { ...of, attempt: 1, sealedResult: 'sealed' };
    given(settlement, reading({ type: 'ReadingCompleted', data })).thenSends(settle('capture'));
  });

  it('releases the reservation of a failed reading', () => {
    const data = { ...of, code: 'timed_out', attempts: 5 } as const;
    given(settlement, reading({ type: 'ReadingFailed', data })).thenSends(settle('release'));
  });

  it('releases the reservation of an abandoned reading', () => {
    const data = { ...of, reason: 'late' };
    given(settlement, reading({ type: 'ReadingAbandoned', data })).thenSends(settle('release'));
  });

  it('settles a test reading in the test book', () => {
    const data = { ...of, livemode: false, attempt: 1, sealedResult: 'sealed' };
    const capture = new SettleReservation('ws_1', 'r1', false, 'capture', 'event-1', by('settlement'));
    given(settlement, reading({ type: 'ReadingCompleted', data })).thenSends(command(capture));
  });

  it('does nothing about an unfinished reading', () => {
    const data = { attempt: 1, workerId: 'w', leaseUntil: '2026-04-10T12:01:00.000Z' };
    given(settlement, reading({ type: 'ReadingStarted', data })).thenSends();
  });
});

describe('the document-refund process', () => {
  const failed = (data: Partial<Extract<PublicationEvent, { type: 'PublicationFailed' }>['data']>) =>
    recorded('publication-7f9c', {
      type: 'PublicationFailed',
      data: { workspaceId: 'ws_1', version: 1, code: 'generation_failed', ...data },
    });

  it('gives back the credits of a reading whose document was given up', () => {
    const refund = {
      workspaceId: 'ws_1',
      readingId: '7f9c',
      failureId: 'event-1',
      by: by('document-refund'),
    };
    given(documentRefunds, failed({})).thenSends(command(refund));
  });

  it('leaves later versions, whose reading has a document, and lost keys, which operators judge', () => {
    given(documentRefunds, failed({ version: 2 })).thenSends();
    given(documentRefunds, failed({ code: 'result_unreadable' })).thenSends();
  });
});

describe('the book-opening process', () => {
  const workspace = (event: WorkspaceEvent) => recorded('workspace-ws_1', event);

  it('opens a book for every workspace, and for nothing else', () => {
    const opened = { type: 'WorkspaceOpened', data: { workspaceId: 'ws_1', name: 'Atelier' } } as const;
    given(bookOpening, workspace(opened)).thenSends(command(new OpenBook('ws_1', by('book-opening'))));
    const revoked = { type: 'ApiKeyRevoked', data: { keyId: 'k1', reason: null } } as const;
    given(bookOpening, workspace(revoked)).thenSends();
  });
});
