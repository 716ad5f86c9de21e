import { Module } from '@nestjs/common';
import { PageCursors } from '#platform/http/page-cursor.js';
import { LinkStore } from './application/links.js';
import { RepublishDocumentController, ShowDocumentController } from './http/documents.js';
import { LinksController } from './http/links.js';
import { OpenLinkController } from './http/open-link.js';
import { PublishedVersion } from './http/published-version.js';
import { ShowSchemasController } from './http/schemas.js';
import { PublishingModule } from './publishing.module.js';

export { schemaComponents } from './http/schemas.js';

@Module({
  imports: [PublishingModule],
  controllers: [
    ShowDocumentController,
    RepublishDocumentController,
    LinksController,
    OpenLinkController,
    ShowSchemasController,
  ],
  providers: [PublishedVersion, LinkStore, PageCursors],
})
export class PublishingHttpModule {}
