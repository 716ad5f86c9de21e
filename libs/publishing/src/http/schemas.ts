import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Public } from '#platform/auth/authentication.js';
import { Produces } from '#platform/http/accept.guard.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { sendBody } from '#platform/http/send-json.js';
import { projectPath } from '#platform/project-path.js';

const schemaAt = (file: string) => {
  const bytes = readFileSync(projectPath(file));
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
};

/** The JSON Schemas (2020-12) of a reading's result and document, by the name in their URL, as published. */
const SCHEMAS = {
  document_v1: schemaAt('libs/publishing/schema/document_v1.schema.json'),
  result: schemaAt('libs/numerology/schema/result.schema.json'),
};

/** The location of a schema in the OpenAPI document, for `$ref`. */
const schemaReference = (name: string): string => `#/components/schemas/${name}`;

/** An answer with a document, by the media type of its format. */
export const documentContent = {
  'application/json': { schema: { $ref: schemaReference('document_v1') } },
  'text/markdown; charset=utf-8': { schema: { type: 'string' } },
  'application/pdf': { schema: { type: 'string', format: 'binary' } },
};

type PublishedJson = Readonly<Record<'$schema' | '$id', string>> & {
  readonly $defs?: Record<string, object>;
};

/**
 * The schemas as OpenAPI 3.1 components. Their `$defs` become components too, named after both: code generators do not
 * find what is nested.
 */
export const schemaComponents = (): Record<string, object> =>
  Object.fromEntries(
    Object.entries(SCHEMAS).flatMap(([name, { bytes }]) => {
      const text = bytes.toString('utf8').replaceAll('"#/$defs/', `"${schemaReference(name)}_`);
      const { $schema: _dialect, $id: _id, $defs = {}, ...schema } = JSON.parse(text) as PublishedJson;
      const parts = Object.entries($defs).map(([part, shape]) => [`${name}_${part}`, shape]);
      return [[name, schema], ...parts] as [string, object][];
    }),
  );

const MEDIA_TYPE = 'application/schema+json';
/** A schema changes only with a release. */
const CACHE_CONTROL = 'public, max-age=3600';

const described = {
  [MEDIA_TYPE]: { schema: { type: 'object', description: 'A JSON Schema (draft 2020-12)' } },
};

/** Serves the schemas of `result` and `document_v1`, for code generators and validators. */
@Controller('schemas')
@Public()
@Produces(MEDIA_TYPE, 'application/json')
@ApiTags('Schemas')
export class ShowSchemasController {
  @Get('document_v1.json')
  @ApiOperation({
    operationId: 'getDocumentSchema',
    summary: 'Get the JSON Schema of `document_v1`',
    description: 'JSON Schema draft 2020-12. It changes only with a release.',
  })
  @Answers(200, 'The schema', described, ['ETag'])
  documentV1(@Headers('if-none-match') ifNoneMatch: string | undefined, @Res() response: Response): void {
    send(response, SCHEMAS.document_v1, ifNoneMatch);
  }

  @Get('result.json')
  @ApiOperation({
    operationId: 'getResultSchema',
    summary: 'Get the JSON Schema of `result`',
    description: 'JSON Schema draft 2020-12. It changes only with a release.',
  })
  @Answers(200, 'The schema', described, ['ETag'])
  result(@Headers('if-none-match') ifNoneMatch: string | undefined, @Res() response: Response): void {
    send(response, SCHEMAS.result, ifNoneMatch);
  }
}

const send = (response: Response, schema: typeof SCHEMAS.result, ifNoneMatch: string | undefined): void =>
  sendBody(response, schema.bytes, {
    sha256: schema.sha256,
    mediaType: MEDIA_TYPE,
    cacheControl: CACHE_CONTROL,
    ifNoneMatch,
  });
