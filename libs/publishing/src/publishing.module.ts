import { EVENT_STORE } from '@app/event-sourcing/store/event-store.js';
import { Module } from '@app/platform/injection.js';
import { ChoosePaperHandler } from './application/choose-paper/choose-paper.handler.js';
import { GetPaperHandler } from './application/choose-paper/get-paper.handler.js';
import { RepublishDocumentHandler } from './application/republish-document/republish-document.handler.js';
import { WithdrawPublicationHandler } from './application/withdraw-publication/withdraw-publication.handler.js';
import { ArtifactStore } from './artifacts/artifact.store.js';
import { BOOKLET_EXECUTOR, createBookletExecutor } from './booklet.executor.js';
import { PUBLICATION_EXECUTOR, createPublicationExecutor } from './publication.executor.js';
import { PublicationQuery } from './read-models/publication/publication.query.js';

/** Requires the readings module: it queries results and summaries over the query bus. */
@Module({
  providers: [
    { provide: PUBLICATION_EXECUTOR, useFactory: createPublicationExecutor, inject: [EVENT_STORE] },
    { provide: BOOKLET_EXECUTOR, useFactory: createBookletExecutor, inject: [EVENT_STORE] },
    ArtifactStore,
    PublicationQuery,
    WithdrawPublicationHandler,
    RepublishDocumentHandler,
    ChoosePaperHandler,
    GetPaperHandler,
  ],
  exports: [PUBLICATION_EXECUTOR, BOOKLET_EXECUTOR, ArtifactStore, PublicationQuery],
})
export class PublishingModule {}
