import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { apiSchemas } from './api-schema.js';
import type { Components } from './document-types.js';
import { completeOperation } from './complete-operation.js';
import { headerComponents, parameterComponents } from './headers.js';
import { plainSchemas } from './plain-schemas.js';
import { problemComponents } from './problem-responses.js';
import { routesOf } from './routes.js';

/**
 * The OpenAPI 3.1 document of an application, from its controllers.
 * @param description what controllers do not declare: title, tags, security schemes, webhooks, further components
 */
export const describeApi = (
  app: NestExpressApplication,
  description: Omit<OpenAPIObject, 'paths'>,
): OpenAPIObject => {
  const document = SwaggerModule.createDocument(app, description, { autoTagControllers: false });
  for (const route of routesOf(app)) {
    const item = document.paths[route.path];
    const operation = item?.[route.method];
    if (operation) item[route.method] = completeOperation(operation, route);
  }
  const { schemas, ...components } = document.components ?? {};
  const bodies = Object.entries(schemas ?? {}).map(([name, schema]) => [
    name,
    // Closes objects, as the body pipe does. Leaves given schemas as their publisher defines them.
    description.components?.schemas?.[name] ? schema : { ...schema, additionalProperties: false },
  ]);
  const shapes = apiSchemas();
  const twice = Object.keys(shapes).filter((name) => schemas?.[name]);
  if (twice.length > 0) throw new Error(`Several schemas have the name ${twice.join(', ')}`);
  const whole: OpenAPIObject = {
    ...document,
    components: {
      ...components,
      headers: headerComponents(),
      parameters: parameterComponents(),
      ...problemComponents(),
      schemas: { ...(Object.fromEntries(bodies) as Components['schemas']), ...shapes },
    },
  };
  return plainSchemas({ ...whole, components: used(whole) });
};

/** Answers that belong to no operation: to an unknown path or method. */
const OF_NO_OPERATION = ['not_found', 'method_not_allowed', 'rate_limited'].map(
  (code) => `#/components/responses/${code}`,
);

/** The components that the document refers to, directly or through others. */
const used = ({ components = {}, paths, webhooks }: OpenAPIObject): Components => {
  const seen = new Set<string>();
  const follow = (part: unknown): void => {
    for (const [, reference = ''] of JSON.stringify(part).matchAll(/"(#\/components\/\w+\/[^"/]+)/g)) {
      if (seen.has(reference)) continue;
      seen.add(reference);
      const [, , kind = '', name = ''] = reference.split('/');
      follow((components as Record<string, Record<string, unknown>>)[kind]?.[name] ?? null);
    }
  };
  follow([paths, webhooks, OF_NO_OPERATION]);
  return Object.fromEntries(
    Object.entries(components).map(([kind, members]) => [
      kind,
      kind === 'securitySchemes'
        ? members
        : Object.fromEntries(
            Object.entries(members as Record<string, unknown>).filter(([name]) =>
              seen.has(`#/components/${kind}/${name}`),
            ),
          ),
    ]),
  );
};
