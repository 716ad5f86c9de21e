import { describe, expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { PublicationEvent } from '../contracts/index.js';
import type { PublicationCommand } from './publication.decider.js';
import { publicationDecider } from './publication.decider.js';

const publication = {
  workspaceId: 'ws_1',
  livemode: false,
  version: 1,
  artifactId: 'art_1',
  publishedAt: '2026-09-29T08:00:00.000Z',
};
const formats = [{ format: 'pdf' as const, mediaType: 'application/pdf', digest: 'aa', bytes: 131_072 }];
const wanted = { ...publication, paper: 'us-letter' as const };
const requested: PublicationEvent = { type: 'PublicationRequested', data: wanted };
const published = {
  type: 'DocumentPublished' as const,
  data: { ...publication, formats, contentVersion: 'texts 1' },
} satisfies PublicationEvent;
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

describe('a publication', () => {
  it('is requested once per version: a retry keeps the first instant', () => {
    given(publicationDecider, []).when(request).thenTypes('PublicationRequested');
    given(publicationDecider, [requested]).when(request).thenIgnores('AlreadyRequested');
  });

  it('keeps the paper of each version: a remake is laid out as it was', () => {
    const other: PublicationEvent = { type: 'DocumentPublished', data: { ...published.data, version: 2 } };
    const papers = [requested, published, other]
      .reduce(publicationDecider.evolve, publicationDecider.initialState)
      .published.values();
    expect([...papers].map(({ paper }) => paper)).toEqual(['us-letter', 'a4']);
  });

  it('is published once per version, with the instant of its request', () => {
    given(publicationDecider, [requested]).when(record).then(published);
    given(publicationDecider, [requested, published]).when(record).thenIgnores('AlreadyPublished');
    given(publicationDecider, [requested, published]).when(request).thenIgnores('AlreadyPublished');
  });

  it('is never recorded after its withdrawal, even by a running job', () => {
    const withdrawn: PublicationEvent = { type: 'PublicationWithdrawn', data: { workspaceId: 'ws_1' } };
    const withdraw: PublicationCommand = { type: 'WithdrawPublication', workspaceId: 'ws_1' };
    for (const past of [[], [requested], [requested, published]]) {
      given(publicationDecider, past).when(withdraw).then(withdrawn);
      given(publicationDecider, [...past, withdrawn])
        .when(withdraw)
        .thenIgnores('AlreadyWithdrawn');
    }
    given(publicationDecider, [withdrawn]).when(request).thenRejects('Withdrawn', null);
    given(publicationDecider, [requested, withdrawn]).when(record).thenRejects('Withdrawn', null);
    given(publicationDecider, [requested, published, withdrawn]).when(record).thenIgnores('AlreadyPublished');
  });

  it('fails at most once, and never after it was published or withdrawn', () => {
    const fail: PublicationCommand = {
      type: 'FailPublication',
      workspaceId: 'ws_1',
      version: 1,
      code: 'result_unreadable',
    };
    const failed: PublicationEvent = {
      type: 'PublicationFailed',
      data: { workspaceId: 'ws_1', version: 1, code: 'result_unreadable' },
    };
    for (const past of [[], [requested]]) given(publicationDecider, past).when(fail).then(failed);
    given(publicationDecider, [failed]).when(fail).thenIgnores('AlreadyFailed');
    given(publicationDecider, [requested, published]).when(fail).thenIgnores('AlreadyPublished');
    const withdrawn: PublicationEvent = { type: 'PublicationWithdrawn', data: { workspaceId: 'ws_1' } };
    given(publicationDecider, [withdrawn]).when(fail).thenRejects('Withdrawn', null);
  });

  it('has a next version once the newest is published: one at a time', () => {
    const next = { ...publication, version: 2, artifactId: 'art_2' };
    const command: PublicationCommand = {
      type: 'RequestNextVersion',
      publication: { ...next, paper: 'a4' },
      most: 2,
      unlessFrom: null,
    };
    const second: PublicationEvent = {
      type: 'PublicationRequested',
      data: { ...next, paper: 'a4' },
    };
    const past = [requested, published];
    given(publicationDecider, []).when(command).thenIgnores('FirstIsDue');
    given(publicationDecider, [requested]).when(command).thenIgnores('FirstIsDue');
    given(publicationDecider, past).when(command).then(second);
    given(publicationDecider, [...past, second])
      .when(command)
      .thenIgnores('AlreadyRequested');
    const made: PublicationEvent = {
      type: 'DocumentPublished',
      data: { ...next, formats, contentVersion: 'texts 2' },
    };
    given(publicationDecider, [...past, second])
      .when({ type: 'RecordPublished', version: 2, formats, contentVersion: 'texts 2' })
      .then(made);
    // It lost against one that is published by now.
    given(publicationDecider, [...past, second, made])
      .when(command)
      .thenIgnores('AlreadyPublished');
    given(publicationDecider, [...past, second, made])
      .when({ ...command, publication: { ...next, paper: 'a4', version: 3 } })
      .thenRejects('TooManyVersions', { most: 2 });
  });

  it('has no next version from the same texts where only other texts are wanted', () => {
    const command = (unlessFrom: string): PublicationCommand => ({
      type: 'RequestNextVersion',
      publication: { ...wanted, version: 2 },
      most: 1,
      unlessFrom,
    });
    given(publicationDecider, [requested, published]).when(command('texts 1')).thenIgnores('TextsUnchanged');
    given(publicationDecider, [requested, published])
      .when({ ...command('texts 2'), most: 2 } as PublicationCommand)
      .thenTypes('PublicationRequested');
  });

  it('has no next version once it is withdrawn, or one has failed for good', () => {
    const command: PublicationCommand = {
      type: 'RequestNextVersion',
      publication: { ...wanted, version: 2 },
      most: 9,
      unlessFrom: null,
    };
    const withdrawn: PublicationEvent = { type: 'PublicationWithdrawn', data: { workspaceId: 'ws_1' } };
    const failed: PublicationEvent = {
      type: 'PublicationFailed',
      data: { workspaceId: 'ws_1', version: 2, code: 'result_unreadable' },
    };
    given(publicationDecider, [requested, published, withdrawn]).when(command).thenRejects('Withdrawn', null);
    given(publicationDecider, [requested, published, failed]).when(command).thenRejects('Unreadable', null);
  });

  it('cannot be recorded when it was never requested', () => {
    given(publicationDecider, []).when(record).thenRejects('NotRequested', { version: 1 });
  });
});
