import { Module } from '@nestjs/common';
import { ShowDocumentController } from './application/show-document/show-document.controller.js';
import { ShowSchemasController } from './application/show-schemas/show-schemas.controller.js';
import { PublishingModule } from './publishing.module.js';

export { schemaComponents } from './http/published-schemas.js';

@Module({ imports: [PublishingModule], controllers: [ShowDocumentController, ShowSchemasController] })
export class PublishingHttpModule {}
