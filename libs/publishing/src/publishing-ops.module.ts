import { Module } from '@nestjs/common';
import { EndLinksHandler, LinkStore } from './application/links.js';
import { RemakeDocumentsHandler } from './application/publications.js';
import { PublishingModule } from './publishing.module.js';

/** What only the operator's program does. Some of it needs the texts and the typesetter, which the API does without. */
@Module({
  imports: [PublishingModule],
  providers: [RemakeDocumentsHandler, EndLinksHandler, LinkStore],
})
export class PublishingOpsModule {}
