import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

/** Serves the OpenAPI document at `/openapi.json` and its browsable form, with local assets, at `/docs`. */
export const serveOpenApi = (app: NestExpressApplication): void => {
  const description = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Asynchronous reading service')
    .setDescription(
      'Create readings, follow them, fetch results and documents, and be told by signed webhooks.',
    )
    .setVersion('v1')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-api-key' }, 'apiKey')
    .addSecurityRequirements('apiKey')
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description), {
    jsonDocumentUrl: 'openapi.json',
    swaggerOptions: { tryItOutEnabled: true },
  });
};
