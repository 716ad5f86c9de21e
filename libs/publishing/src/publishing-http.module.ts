import { Module } from '@nestjs/common';
import { DocumentController } from './http/document.controller.js';
import { SchemasController } from './http/schemas.controller.js';
import { PublishingModule } from './publishing.module.js';

export { schemaComponents } from './http/published-schemas.js';

@Module({ imports: [PublishingModule], controllers: [DocumentController, SchemasController] })
export class PublishingHttpModule {}
