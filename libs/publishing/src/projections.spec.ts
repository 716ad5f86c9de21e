import { expect, it } from '@jest/globals';
import { decodeAny } from '#event-sourcing/core/event-catalogue.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import type { PublicationEvent } from './contracts/index.js';
import { publicationProjection } from './projections.js';

const { catalogues, views } = publicationProjection;
const [publications, republications] = views;
const event = (data: PublicationEvent) => recorded('publication-7f9c', data);
const about = {
  workspaceId: 'ws_1',
  livemode: true,
  artifactId: 'art_2',
  publishedAt: '2026-11-22T12:00:00.000Z',
};
const requested = (version: number) =>
  event({ type: 'PublicationRequested', data: { ...about, version, paper: 'a4' } });
const failed = (version: number) =>
  event({ type: 'PublicationFailed', data: { workspaceId: 'ws_1', version, code: 'result_unreadable' } });
const made = event({
  type: 'DocumentPublished',
  data: { ...about, version: 2, formats: [], contentVersion: '2026.11.3' },
});
const withdrawn = event({ type: 'PublicationWithdrawn', data: { workspaceId: 'ws_1' } });

it('A publication that failed for good is due no more: it is not tried again', () => {
  expect(decodeAny(catalogues, failed(1))).toBeTruthy();
  expect(publications!.keyOf(failed(1))).toEqual({ reading_id: '7f9c', version: 1 });
  const owed = { reading_id: '7f9c', version: 1, due_at: '2026-11-22T12:00:30.000Z', published_at: null };
  expect(publications!.evolve(owed, failed(1))).toEqual({ ...owed, due_at: null });
  expect(publications!.evolve(null, failed(1))).toBeNull();
});

it('A later version is due from its request until it is published, failed or withdrawn', () => {
  expect(republications!.keyOf(requested(1))).toBeNull();
  const owed = republications!.evolve(null, requested(2));
  expect(owed).toMatchObject({ reading_id: '7f9c', version: 2, workspace_id: 'ws_1' });
  expect(republications!.evolve(owed, requested(2))).toBe(owed);
  for (const one of [requested(2), made, failed(2), withdrawn])
    expect(republications!.keyOf(one)).toEqual({ reading_id: '7f9c' });
  for (const end of [made, failed(2), withdrawn]) expect(republications!.evolve(owed, end)).toBeNull();
  expect(publications!.evolve(null, made)).toMatchObject({ version: 2, content_version: '2026.11.3' });
});
