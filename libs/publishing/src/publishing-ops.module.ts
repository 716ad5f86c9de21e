import { Module } from '@nestjs/common';
import { EndLinksHandler } from './application/end-links/end-links.handler.js';
import { RemakeDocumentsHandler } from './application/remake-documents/remake-documents.handler.js';
import { LinkStore } from './links/link.store.js';
import { PublishingModule } from './publishing.module.js';

/** What only the operator's program does. Some of it needs the texts and the typesetter, which the API does without. */
@Module({
  imports: [PublishingModule],
  providers: [RemakeDocumentsHandler, EndLinksHandler, LinkStore],
})
export class PublishingOpsModule {}
