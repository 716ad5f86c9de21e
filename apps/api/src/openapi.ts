import { readFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject } from '@nestjs/swagger';
import { pino } from 'pino';
import { loadConfig } from '#platform/config/load-config.js';
import { describeApi } from '#platform/http/openapi/describe-api.js';
import { projectPath } from '#platform/project-path.js';
import { schemaComponents } from '#publishing/publishing-http.module.js';
import { describeWebhooks } from '#webhooks/webhooks.module.js';
import { settings } from '../../service/src/settings.js';
import { ApiModule } from './api.module.js';

const DESCRIPTION = `Create readings, follow their progress, fetch results and documents, and receive signed webhooks.

Every answer carries \`X-Request-Id\`. Every error is a problem (RFC 9457) with a \`code\` from a closed list. Only a request that is sent too slowly gets 408 without a body, and its connection ends: send it again, with the same \`Idempotency-Key\`. An unknown path gets 404 \`not_found\`. A method that a path does not support gets 405 \`method_not_allowed\` with \`Allow\`. HEAD works wherever GET does. v1 may add members to answers: ignore those you do not know.`;

const TAGS: Readonly<Record<string, string>> = {
  Readings: 'Create readings, follow their progress, and fetch their results.',
  Webhooks: 'Endpoints that receive events about readings, and their deliveries.',
  Events: 'The same events, to pull.',
  Credits: 'Credits, which pay for readings.',
  Keys: 'API keys of the workspace; require a bearer token or a key with `keys:write`.',
  Portal: 'Sessions of the workspace portal, a site for people; require a key with `portal:write`.',
  Links: 'Documents by their links; no credentials needed.',
  Schemas: 'JSON Schemas of reading results; no credentials needed.',
  Health: 'For operators; no credentials needed.',
};

/** The OpenAPI 3.1 document of the API. It is committed as docs/openapi.json, and served from there. */
export const openApiDocument = (app: NestExpressApplication): OpenAPIObject => {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Asynchronous Reading Service')
    .setDescription(DESCRIPTION)
    .setVersion('v1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The service that serves this document')
    .addApiKey(
      {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description:
          'An API key of the workspace, with scopes: each operation lists the one it needs. The operator issues the first key (`ops key issue`); `POST /api/v1/keys` creates more.',
      },
      'apiKey',
    )
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: `A token of the portal, signed with EdDSA or RS256 and valid for 15 minutes at most. Its \`scope\` lists what it allows, as in \`webhooks:read keys:write\`; each operation lists the scope it needs. When both headers are present, only \`x-api-key\` counts.`,
      },
      'bearer',
    );
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const document = describeApi(app, {
    ...builder.build(),
    webhooks: describeWebhooks(),
    components: { ...builder.build().components, schemas: schemaComponents() },
  });
  return withExamples(document);
};

/** Required settings; their stores are never used. */
const NOWHERE = {
  DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  ENCRYPTION_KEYS: `none:${Buffer.alloc(32).toString('base64')}`,
  DIGEST_KEY: Buffer.alloc(32).toString('base64'),
};

/** The API assembled but not started, so that its routes can be read. Close it afterwards. */
export const describedApi = (): Promise<NestExpressApplication> =>
  NestFactory.create<NestExpressApplication>(
    ApiModule.forProcess(loadConfig(settings, NOWHERE), pino({ level: 'silent' })),
    { logger: false, abortOnError: false },
  );

/** `RECORDED_ANSWERS=write npm run test:all -- test/e2e/recorded-answers` writes it. */
export const EXAMPLES_FILE = projectPath('apps/api/examples/answers.json');

/** By operation, as in `GET /api/v1/readings`: the body that a running service answered with. */
export const readExamples = (): Readonly<Record<string, unknown>> =>
  JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Readonly<Record<string, unknown>>;

/** Gives each successful answer with a JSON body its example. */
const withExamples = (document: OpenAPIObject): OpenAPIObject => {
  const examples = readExamples();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of ['get', 'post', 'patch', 'delete'] as const) {
      const operation = `${method.toUpperCase()} ${path}`;
      for (const [status, answer] of Object.entries(item[method]?.responses ?? {})) {
        if (!status.startsWith('2') || !answer || '$ref' in answer) continue;
        for (const [mediaType, content] of Object.entries(answer.content ?? {})) {
          if (!mediaType.endsWith('json')) continue;
          content.examples = { recorded: { summary: 'As a service answered', value: examples[operation] } };
        }
      }
    }
  }
  return document;
};
