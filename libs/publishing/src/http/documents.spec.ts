import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setPrincipal } from '#platform/auth/authentication.js';
import { OwnReadingGuard } from './published-version.js';
import { RepublishDocumentController } from './documents.js';

it('A document with as many versions as it may have gets no other', async () => {
  const reading = {
    readingId: randomUUID(),
    workspaceId: 'ws_1',
    status: 'completed',
    erasedAt: null,
    livemode: true,
  };
  const guard = new OwnReadingGuard({ execute: async () => reading } as never);
  const request = { params: reading } as never;
  setPrincipal(request, { actor: 'apiKey:k1', workspaceId: 'ws_1', sees: ['live'] } as never);
  await guard.canActivate({ switchToHttp: () => ({ getRequest: () => request }) } as never);
  const commands = { execute: async () => ({ outcome: 'too_many_versions', most: 20 }) };
  const controller = new RepublishDocumentController(commands as never);
  await expect(
    controller.republish(request, { onlyIfTextsChanged: false }, {} as never, {} as never),
  ).rejects.toMatchObject({
    code: 'version_limit_reached',
    options: { detail: 'A document has at most 20 versions' },
  });
});
