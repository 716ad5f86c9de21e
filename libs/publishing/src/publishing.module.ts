import { Module } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { RepublishDocumentHandler } from './application/republish-document/republish-document.handler.js';
import { WithdrawPublicationHandler } from './application/withdraw-publication/withdraw-publication.handler.js';
import { ArtifactStore } from './artifacts/artifact.store.js';
import { PUBLICATION_EXECUTOR, createPublicationExecutor } from './publication.executor.js';
import { PublicationQuery } from './read-models/publication/publication.query.js';

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
