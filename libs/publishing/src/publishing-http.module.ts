import { Module } from '@nestjs/common';
import { RepublishDocumentController } from './application/republish-document/republish-document.controller.js';
import { ShowDocumentController } from './application/show-document/show-document.controller.js';
import { ShowSchemasController } from './application/show-schemas/show-schemas.controller.js';
import { PublishingModule } from './publishing.module.js';

export { schemaComponents } from './http/published-schemas.js';

@Module({
  imports: [PublishingModule],
  controllers: [ShowDocumentController, RepublishDocumentController, ShowSchemasController],
})
export class PublishingHttpModule {}
