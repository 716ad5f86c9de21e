import { Module } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { ArtifactStore } from './application/artifact.store.js';
import { EndLinksHandler, LinkStore } from './application/links.js';
import {
  PublicationQuery,
  createPublicationExecutor,
  PUBLICATION_EXECUTOR,
  RemakeDocumentsHandler,
  RepublishDocumentHandler,
  WithdrawPublicationHandler,
} from './application/publications.js';

/** Requires the modules readings and workspaces: it asks them for results and papers over the query bus. */
@Module({
  providers: [
    { provide: PUBLICATION_EXECUTOR, useFactory: createPublicationExecutor, inject: [EVENT_STORE] },
    ArtifactStore,
    PublicationQuery,
    WithdrawPublicationHandler,
    RepublishDocumentHandler,
  ],
  exports: [PUBLICATION_EXECUTOR, ArtifactStore, PublicationQuery],
})
export class PublishingModule {}

/** What only the operator's program does. Some of it needs the texts and the typesetter, which the API does without. */
@Module({
  imports: [PublishingModule],
  providers: [RemakeDocumentsHandler, EndLinksHandler, LinkStore],
})
export class PublishingOpsModule {}
