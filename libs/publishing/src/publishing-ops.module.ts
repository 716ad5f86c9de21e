import { Module } from '@app/platform/injection.js';
import { EndLinksHandler } from './application/end-links/end-links.handler.js';
import { RemakeDocumentsHandler } from './application/remake-documents/remake-documents.handler.js';
import { LinkStore } from './links/link.store.js';

/** What only the operator's program does. Some of it needs the texts and the typesetter, which the API does without. */
@Module({ providers: [RemakeDocumentsHandler, EndLinksHandler, LinkStore] })
export class PublishingOpsModule {}
