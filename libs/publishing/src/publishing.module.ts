import { Module } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { RepublishDocumentHandler } from './application/publications.js';
import { WithdrawPublicationHandler } from './application/publications.js';
import { ArtifactStore } from './application/artifact.store.js';
import { PUBLICATION_EXECUTOR, createPublicationExecutor } from './application/publications.js';
import { PublicationQuery } from './application/publication.query.js';

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
