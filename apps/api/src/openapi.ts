import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject } from '@nestjs/swagger';
import { describeApi } from '@app/platform/http/openapi/describe-api.js';
import { serveDocuments } from '@app/platform/http/static-documents.js';
import { schemaComponents } from '@app/publishing/publishing-http.module.js';
import { describeWebhooks } from '@app/webhooks/webhooks-http.module.js';
import { apiPage } from './api-page.js';

const DESCRIPTION = `Create readings, follow them, fetch results and documents, and be told by signed webhooks.

Every answer carries \`X-Request-Id\`. Every error is a problem (RFC 9457) whose \`code\` is of a closed list. A path that does not exist is answered 404 \`not_found\`, a method that a path does not have 405 \`method_not_allowed\` with \`Allow\`; HEAD is answered wherever GET is. Members may be added to answers within v1: ignore those you do not know.`;

const TAGS: Readonly<Record<string, string>> = {
  Readings: 'Create readings, follow them, and fetch what they yield.',
  Webhooks: 'Endpoints that are told what happens to readings, and what was sent to them.',
  Events: 'The same events, to be pulled.',
  Credits: 'What readings are paid with.',
  Keys: 'API keys of the workspace; with a bearer token only.',
  Schemas: 'JSON Schemas of what readings yield; no credentials needed.',
  Health: 'For who runs the service; no credentials needed.',
};

/** The OpenAPI 3.1 document of the API. */
export const openApiDocument = (app: NestExpressApplication): OpenAPIObject => {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Asynchronous Reading Service')
    .setDescription(DESCRIPTION)
    .setVersion('v1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The service that answers this document')
    .addApiKey(
      {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description:
          'A key of the workspace: whoever runs the service issues the first one (`ops key issue`), `POST /api/v1/keys` more.',
      },
      'apiKey',
    )
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: `A token of the portal, signed with EdDSA or RS256, that lives 15 minutes at most. Its \`scope\` names what it may do, as in \`webhooks:read keys:write\`; each operation lists the one that it needs. With both headers, \`x-api-key\` alone counts.`,
      },
      'bearer',
    );
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  return describeApi(app, {
    ...builder.build(),
    webhooks: describeWebhooks(),
    components: { ...builder.build().components, schemas: schemaComponents() },
  });
};

/** They change with a release at most. */
const CACHE_CONTROL = 'public, max-age=300';

/** Serves the OpenAPI document at `/openapi.json` and its browsable form, with local assets, at `/docs`. */
export const serveOpenApi = (app: NestExpressApplication): void => {
  const bytes = Buffer.from(JSON.stringify(openApiDocument(app)));
  const document = {
    path: '/openapi.json',
    mediaType: 'application/json',
    cacheControl: CACHE_CONTROL,
    bytes,
  };
  serveDocuments(app, [document, ...apiPage(CACHE_CONTROL)]);
};
