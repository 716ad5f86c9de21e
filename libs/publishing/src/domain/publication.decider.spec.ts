import { expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { PublicationEvent } from '../contracts/index.js';
import { type PublicationCommand, publicationDecider } from './publication.decider.js';

const publication = {
  workspaceId: 'ws_1',
  livemode: false,
  version: 1,
  artifactId: 'art_1',
  publishedAt: '2026-09-29T08:00:00.000Z',
};
const formats = [{ format: 'pdf' as const, mediaType: 'application/pdf', digest: 'aa', bytes: 131_072 }];
const wanted = { ...publication, paper: 'us-letter' as const };
const next = { ...wanted, version: 2, artifactId: 'art_2' };
const failure = { workspaceId: 'ws_1', version: 1, code: 'result_unreadable' };

const requested: PublicationEvent = { type: 'PublicationRequested', data: wanted };
const published = {
  type: 'DocumentPublished' as const,
  data: { ...publication, formats, contentVersion: 'texts 1' },
} satisfies PublicationEvent;
const second: PublicationEvent = { type: 'PublicationRequested', data: next };
const made: PublicationEvent = {
  type: 'DocumentPublished',
  data: { ...published.data, version: 2, artifactId: 'art_2', contentVersion: 'texts 2' },
};
const failed: PublicationEvent = { type: 'PublicationFailed', data: failure };
const withdrawn: PublicationEvent = { type: 'PublicationWithdrawn', data: { workspaceId: 'ws_1' } };

const request: PublicationCommand = {
  type: 'RequestPublication',
  publication: { ...wanted, publishedAt: '2026-09-29T09:00:00.000Z' },
};
const record: PublicationCommand = {
  type: 'RecordPublished',
  version: 1,
  formats,
  contentVersion: 'texts 1',
};
const fail: PublicationCommand = { type: 'FailPublication', ...failure };
const withdraw: PublicationCommand = { type: 'WithdrawPublication', workspaceId: 'ws_1' };
const requestNext = (version = 2, unlessFrom: string | null = null, most = 2): PublicationCommand => ({
  type: 'RequestNextVersion',
  publication: { ...next, version },
  most,
  unlessFrom,
});

it.each<[string, PublicationEvent[], PublicationCommand, PublicationEvent]>([
  ['recorded with the instant of its request', [requested], record, published],
  ['withdrawn before it is requested', [], withdraw, withdrawn],
  ['withdrawn after it is published', [requested, published], withdraw, withdrawn],
  ['failed before it is requested', [], fail, failed],
  ['failed', [requested], fail, failed],
  ['requested again once the newest is published', [requested, published], requestNext(), second],
  [
    'recorded in its next version',
    [requested, published, second],
    { type: 'RecordPublished', version: 2, formats, contentVersion: 'texts 2' },
    made,
  ],
])('A publication is %s', (_, past, command, event) => {
  given(publicationDecider, past).when(command).then(event);
});

it.each<[string, PublicationEvent[], PublicationCommand]>([
  ['AlreadyRequested', [requested], request],
  ['AlreadyPublished', [requested, published], record],
  ['AlreadyPublished', [requested, published], request],
  ['AlreadyPublished', [requested, published, withdrawn], record],
  ['AlreadyPublished', [requested, published], fail],
  ['AlreadyFailed', [failed], fail],
  ['AlreadyWithdrawn', [withdrawn], withdraw],
  ['FirstIsDue', [], requestNext()],
  ['FirstIsDue', [requested], requestNext()],
  ['AlreadyRequested', [requested, published, second], requestNext()],
  // It lost against one that is published by now.
  ['AlreadyPublished', [requested, published, second, made], requestNext()],
  ['TextsUnchanged', [requested, published], requestNext(2, 'texts 1', 1)],
])('Nothing happens twice: %s', (reason, past, command) => {
  given(publicationDecider, past).when(command).thenIgnores(reason);
});

it.each<[string, PublicationEvent[], PublicationCommand, object | null]>([
  ['Withdrawn', [withdrawn], request, null],
  ['Withdrawn', [requested, withdrawn], record, null],
  ['Withdrawn', [withdrawn], fail, null],
  ['Withdrawn', [requested, published, withdrawn], requestNext(), null],
  ['Unreadable', [requested, published, failed], requestNext(), null],
  ['Unreadable', [requested, failed], record, null],
  ['NotRequested', [], record, { version: 1 }],
  ['TooManyVersions', [requested, published, second, made], requestNext(3), { most: 2 }],
])('It is refused: %s', (code, past, command, details) => {
  given(publicationDecider, past)
    .when(command)
    .thenRejects(code as never, details as never);
});

it('Another version is made from other texts, and keeps its paper: a remake is laid out as it was', () => {
  given(publicationDecider, [requested, published])
    .when(requestNext(2, 'texts 2'))
    .thenTypes('PublicationRequested');
  const { published: versions } = [requested, published, made].reduce(
    publicationDecider.evolve,
    publicationDecider.initialState,
  );
  expect([...versions.values()].map(({ paper }) => paper)).toEqual(['us-letter', 'a4']);
});
