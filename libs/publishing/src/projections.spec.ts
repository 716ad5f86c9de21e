import { describe, expect, it } from '@jest/globals';
import { decodeAny } from '#event-sourcing/core/event-catalogue.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import type { PublicationEvent } from './contracts/index.js';
import { publicationProjection } from './projections.js';

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

  it('include a later version from its request until it is published, failed or withdrawn', () => {
    const event = (data: PublicationEvent) => recorded('publication-7f9c', data);
    const requested = (version: number) =>
      event({
        type: 'PublicationRequested',
        data: {
          workspaceId: 'ws_1',
          livemode: true,
          version,
          artifactId: 'art_2',
          publishedAt: '2026-11-22T12:00:00.000Z',
          paper: 'a4',
        },
      });
    const [published, republications] = views;
    expect(republications!.keyOf(requested(1))).toBeNull();
    expect(republications!.keyOf(requested(2))).toEqual({ reading_id: '7f9c' });
    const owed = republications!.evolve(null, requested(2));
    expect(owed).toMatchObject({ reading_id: '7f9c', version: 2, workspace_id: 'ws_1' });
    expect(republications!.evolve(owed, requested(2))).toBe(owed);
    const made = event({
      type: 'DocumentPublished',
      data: {
        workspaceId: 'ws_1',
        livemode: true,
        version: 2,
        artifactId: 'art_2',
        formats: [],
        publishedAt: '2026-11-22T12:00:00.000Z',
        contentVersion: '2026.11.3',
      },
    });
    const failed = event({
      type: 'PublicationFailed',
      data: { workspaceId: 'ws_1', version: 2, code: 'result_unreadable' },
    });
    const withdrawn = event({ type: 'PublicationWithdrawn', data: { workspaceId: 'ws_1' } });
    for (const end of [made, failed, withdrawn]) {
      expect(republications!.keyOf(end)).toEqual({ reading_id: '7f9c' });
      expect(republications!.evolve(owed, end)).toBeNull();
    }
    expect(published!.keyOf(made)).toEqual({ reading_id: '7f9c', version: 2 });
    expect(published!.evolve(null, made)).toMatchObject({ version: 2, content_version: '2026.11.3' });
  });
});
