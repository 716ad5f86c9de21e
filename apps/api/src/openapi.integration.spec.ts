import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import { API_KEY_SCOPES, BEARER_SCOPES } from '#platform/auth/scopes.js';
import { PROBLEMS } from '#platform/http/problem.js';
import { projectPath } from '#platform/project-path.js';
import { describedApi, openApiDocument } from './openapi.js';
import { serveSite } from './serve-site.js';

let app: NestExpressApplication;
let document: OpenAPIObject;
beforeAll(async () => {
  app = await describedApi();
  document = openApiDocument(app);
  serveSite(app);
  await app.init();
});
afterAll(() => app.close());

interface RouterLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/** Problems that the router itself answers. */
const served = (): readonly string[] => {
  const { stack } = app.getHttpAdapter().getInstance().router as { stack: readonly RouterLayer[] };
  return stack.flatMap(({ route }) =>
    Object.keys(route?.methods ?? {}).map(
      (method) => `${method.toUpperCase()} ${route!.path.replaceAll(/:(\w+)/g, '{$1}')}`,
    ),
  );
};
/** The documentation. */
const isDescription = (route: string): boolean => /^\w+ \/(openapi|docs|changelog|llms|$)/.test(route);

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    (['get', 'post', 'put', 'patch', 'delete'] as const).flatMap((method) => {
      const operation = item[method];
      return operation ? [{ route: `${method.toUpperCase()} ${path}`, operation }] : [];
    }),
  );

interface Shape {
  readonly type?: unknown;
  readonly items?: unknown;
  readonly prefixItems?: unknown;
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
}

/** Every object of the document by its path, so every schema too. */
function* schemasIn(part: unknown, path = '#'): Generator<readonly [string, Shape]> {
  if (typeof part !== 'object' || part === null) return;
  if (!Array.isArray(part)) yield [path, part];
  for (const [name, inner] of Object.entries(part))
    if (name !== 'example' && name !== 'examples') yield* schemasIn(inner, `${path}/${name}`);
}

it('Each scope that a key or a token can have opens an operation', () => {
  const needed = operations().flatMap(({ operation }) => operation.security ?? []);
  const taken = (mode: string) => new Set(needed.flatMap((one) => one[mode] ?? []));
  expect(API_KEY_SCOPES.filter((scope) => !taken('apiKey').has(scope))).toEqual([]);
  expect(BEARER_SCOPES.filter((scope) => !taken('bearer').has(scope))).toEqual([]);
});

describe('The OpenAPI document', () => {
  it('is committed as the code generates it (otherwise run `npm run openapi`)', () => {
    const committed: unknown = JSON.parse(readFileSync(projectPath('docs/openapi.json'), 'utf8'));
    expect(committed).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('has every served route and no other', () => {
    const described = operations().map(({ route }) => route);
    expect(described.sort()).toEqual(
      served()
        .filter((route) => !isDescription(route))
        .sort(),
    );
  });

  it('has a schema for every request body and every successful response body', () => {
    const shapeless = operations().flatMap(({ route, operation }) => {
      const bodies = [
        ...Object.entries(operation.responses).map(([status, one]) => [status, one] as const),
        ['body', operation.requestBody] as const,
      ];
      return bodies.flatMap(([what, one]) => {
        if (one === undefined || '$ref' in one || what === '204' || what === '304') return [];
        const contents = Object.values(one.content ?? {});
        return contents.length > 0 && contents.every(({ schema }) => schema) ? [] : [`${route} ${what}`];
      });
    });
    expect(shapeless).toEqual([]);
  });

  it('describes every property, and what each array has', () => {
    const undescribed: string[] = [];
    for (const [path, schema] of schemasIn(document)) {
      for (const [name, property] of Object.entries(schema.properties ?? {}))
        if (!('$ref' in property) && !property.description) undescribed.push(`${path}.${name}`);
      if (schema.type === 'array' && !schema.items && !schema.prefixItems) undescribed.push(path);
    }
    expect(undescribed).toEqual([]);
  });

  // That their schemas allow them, `npm run lint:openapi` sees.
  it('has a recorded example for every successful JSON answer', () => {
    const without = operations().flatMap(({ route, operation }) =>
      Object.entries(operation.responses).flatMap(([status, answer]) => {
        if (!status.startsWith('2') || !answer || '$ref' in answer) return [];
        return Object.entries(answer.content ?? {}).flatMap(([mediaType, { examples }]) =>
          mediaType.endsWith('json') && !examples?.['recorded'] ? [route] : [],
        );
      }),
    );
    expect(without).toEqual([]);
  });

  it('gives no example for a header of a request, which /docs would send', () => {
    const headers = Object.values(document.components?.parameters ?? {}).filter(
      (parameter) => 'in' in parameter && parameter.in === 'header',
    );
    expect(headers).toHaveLength(4);
    expect(headers.filter((parameter) => 'example' in parameter || 'examples' in parameter)).toEqual([]);
  });

  it('nests no definitions, which code generators would not find', () => {
    expect(JSON.stringify(document)).not.toContain('$defs');
  });

  it('uses every problem code', () => {
    const text = JSON.stringify(document);
    const unnamed = Object.keys(PROBLEMS).filter((code) => !text.includes(`#/components/examples/${code}`));
    expect(unnamed).toEqual([]);
  });
});
