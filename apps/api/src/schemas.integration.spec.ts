import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { APP_GUARD } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { AuthGuard, ScopeGuard } from '#platform/auth/auth.guard.js';
import { CONFIG } from '#platform/tokens.js';
import { AddressLimiter } from '#platform/rate-limit/rate-limit.guard.js';
import { AUTHENTICATOR } from '#platform/auth/authentication.js';
import { projectPath } from '#platform/project-path.js';
import { composeDocument } from '#publishing/document/compose.js';
import { ancestor, camille, child, resultOf, withoutVowel } from '#publishing/document/testing/people.js';
import { ShowSchemasController } from '#publishing/http/schemas.js';

const example: unknown = JSON.parse(
  readFileSync(projectPath('libs/numerology/test/data/result.example.json'), 'utf8'),
);
const results = [camille, withoutVowel, child, ancestor].map((person) => resultOf(person));
const documents = results.map((result) =>
  composeDocument(result, { publishedAt: '2026-09-29T08:00:00.000Z' }),
);
const validatorOf = (schema: AnySchemaObject) => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  return ajv.compile(schema);
};
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

let app: NestExpressApplication;
beforeAll(async () => {
  const testing = await Test.createTestingModule({
    controllers: [ShowSchemasController],
    providers: [
      { provide: APP_GUARD, useClass: AuthGuard },
      { provide: APP_GUARD, useClass: ScopeGuard },
      { provide: CONFIG, useValue: { TRUSTED_PROXIES: 0 } },
      { provide: AddressLimiter, useValue: { refusal: async () => null } },
      { provide: AUTHENTICATOR, useValue: { verifyApiKey: () => Promise.resolve(null) } },
    ],
  }).compile();
  app = testing.createNestApplication<NestExpressApplication>({ logger: false });
  await app.listen(0, '127.0.0.1');
});
afterAll(() => app.close());

const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch((await app.getUrl()) + path, { headers });
/** Parsed here, because arrays created by `fetch` never equal arrays created in the test. */
const schemaAt = async (path: string): Promise<AnySchemaObject> =>
  JSON.parse(await (await get(path)).text()) as AnySchemaObject;

describe.each([
  ['/schemas/result.json', 'libs/numerology/schema/result.schema.json', [example, ...results]],
  ['/schemas/document_v1.json', 'libs/publishing/schema/document_v1.schema.json', documents],
])('GET %s', (path, file, valid) => {
  it('serves the exact bytes of the schema to anyone, cacheable for an hour', async () => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/schema+json');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(await response.text()).toBe(readFileSync(projectPath(file), 'utf8'));
  });

  it('answers 304 to a caller that has it', async () => {
    const etag = (await get(path)).headers.get('etag') ?? '';
    const again = await get(path, { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('describes reading results and nothing else', async () => {
    const validate = validatorOf(await schemaAt(path));
    for (const value of valid) expect([validate(asJson(value)), validate.errors]).toEqual([true, null]);
    expect(validate({ ...(asJson(valid[0]) as object), surplus: 1 })).toBe(false);
  });
});
