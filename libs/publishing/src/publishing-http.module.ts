import { Module } from '@nestjs/common';
import { PageCursors } from '#platform/http/page-cursor.js';
import { CreateLinkController } from './application/create-link/create-link.controller.js';
import { OpenLinkController } from './application/open-link/open-link.controller.js';
import { RepublishDocumentController } from './application/republish-document/republish-document.controller.js';
import { RevokeLinkController } from './application/revoke-link/revoke-link.controller.js';
import { ShowDocumentController } from './application/show-document/show-document.controller.js';
import { ShowLinksController } from './application/show-links/show-links.controller.js';
import { ShowSchemasController } from './application/show-schemas/show-schemas.controller.js';
import { PublishedVersion } from './http/published-version.js';
import { LinkStore } from './links/link.store.js';
import { LinkUse } from './links/link-use.js';
import { PublishingModule } from './publishing.module.js';

export { schemaComponents } from './http/published-schemas.js';

@Module({
  imports: [PublishingModule],
  controllers: [
    ShowDocumentController,
    RepublishDocumentController,
    CreateLinkController,
    ShowLinksController,
    RevokeLinkController,
    OpenLinkController,
    ShowSchemasController,
  ],
  providers: [PublishedVersion, LinkStore, LinkUse, PageCursors],
})
export class PublishingHttpModule {}
