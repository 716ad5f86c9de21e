import { describe, expect, it } from '@jest/globals';
import { decodeAny } from '@app/event-sourcing/core/event-catalogue.js';
import { recorded } from '@app/event-sourcing/testing/recorded.js';
import { publicationProjection } from './publication.projection.js';

const { catalogues, views } = publicationProjection;

describe('The due publications', () => {
  it('do not include one that failed permanently: it is not retried', () => {
    const failed = recorded('publication-7f9c', {
      type: 'PublicationFailed',
      data: { workspaceId: 'ws_1', version: 1, code: 'result_unreadable' },
    });
    expect(decodeAny(catalogues, failed)).toBeTruthy();
    expect(views[0]!.keyOf(failed)).toEqual({ reading_id: '7f9c', version: 1 });
    const owed = { reading_id: '7f9c', version: 1, due_at: '2026-11-22T12:00:30.000Z', published_at: null };
    expect(views[0]!.evolve(owed, failed)).toEqual({ ...owed, due_at: null });
    expect(views[0]!.evolve(null, failed)).toBeNull();
  });
});
