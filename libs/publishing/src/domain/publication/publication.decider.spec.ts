import { describe, it } from '@jest/globals';
import { given } from '@app/event-sourcing/testing/decider-spec.js';
import type { PublicationEvent } from '../../contracts/events.js';
import type { PublicationCommand } from './publication.commands.js';
import { publicationDecider } from './publication.decider.js';

const publication = {
  workspaceId: 'ws_1',
  livemode: false,
  version: 1,
  artifactId: 'art_1',
  publishedAt: '2026-09-29T08:00:00.000Z',
};
const formats = [{ format: 'pdf' as const, mediaType: 'application/pdf', digest: 'aa', bytes: 131_072 }];
const requested: PublicationEvent = { type: 'PublicationRequested', data: publication };
const published: PublicationEvent = { type: 'DocumentPublished', data: { ...publication, formats } };
const request: PublicationCommand = {
  type: 'RequestPublication',
  publication: { ...publication, publishedAt: '2026-09-29T09:00:00.000Z' },
};
const record: PublicationCommand = { type: 'RecordPublished', version: 1, formats };

describe('a publication', () => {
  it('is requested once per version: a retry keeps the first instant', () => {
    given(publicationDecider, []).when(request).thenTypes('PublicationRequested');
    given(publicationDecider, [requested]).when(request).thenIgnores('AlreadyRequested');
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

  it('cannot be recorded when it was never requested', () => {
    given(publicationDecider, []).when(record).thenRejects('NotRequested', { version: 1 });
  });
});
