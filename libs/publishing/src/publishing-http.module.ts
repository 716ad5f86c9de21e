import { Module } from '@nestjs/common';
import { DocumentController } from './http/document.controller.js';
import { PublishingModule } from './publishing.module.js';

@Module({ imports: [PublishingModule], controllers: [DocumentController] })
export class PublishingHttpModule {}
