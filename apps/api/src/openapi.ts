import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { schemaComponents } from '@app/publishing/publishing-http.module.js';

/** The API described from its routes, with the published schemas of what they answer. */
const describe = (app: NestExpressApplication, description: Omit<OpenAPIObject, 'paths'>): OpenAPIObject => {
  const document = SwaggerModule.createDocument(app, description);
  const schemas = { ...document.components?.schemas, ...schemaComponents() };
  return { ...document, components: { ...document.components, schemas } };
};

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
  SwaggerModule.setup('docs', app, () => describe(app, description), {
    jsonDocumentUrl: 'openapi.json',
    swaggerOptions: { tryItOutEnabled: true },
  });
};
