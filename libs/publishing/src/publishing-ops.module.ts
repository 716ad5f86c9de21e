import { Module } from '@app/platform/injection.js';
import { RemakeDocumentsHandler } from './application/remake-documents/remake-documents.handler.js';

/** What only the operator's program does: it needs the texts and the typesetter, which the API does without. */
@Module({ providers: [RemakeDocumentsHandler] })
export class PublishingOpsModule {}
