import type { OpenAPIObject } from '@nestjs/swagger';
import { z } from 'zod';

type SchemaObject = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

export * from './shapes.js';

type Json = Record<string, unknown>;

const registry = z.registry<{ id: string; description: string; examples: unknown[] }>();

/**
 * A schema of the API's answers, which becomes a component of the OpenAPI document under its id. `T` is the type that
 * the handler returns: the compiler keeps the two equal, and the tests check every answer against the schema. v1 may
 * add members, so answer objects stay open.
 */
export const apiSchema = <T>(
  id: string,
  schema: z.ZodType<T>,
  description: string,
  example: NoInfer<T>,
): z.ZodType<T> => schema.register(registry, { id, description, examples: [example] });

/** The schema of a page of a list: `nextCursor` is null on the last one. */
export const apiPage = <T>(id: string, item: z.ZodType<T>, description: string, example: NoInfer<T>) =>
  apiSchema(
    id,
    z.object({
      data: z.array(item).describe('The items of this page'),
      nextCursor: z
        .string()
        .nullable()
        .describe('Opaque: send it as `cursor` with the same filters; null on the last page'),
    }),
    description,
    { data: [example], nextCursor: 'q1ZKzi9KVbIy0FFKK8pNVrIyqgUA' },
  );

/** The `$ref` of a schema. */
export const refTo = (schema: z.ZodType): { $ref: string } => {
  const id = registry.get(schema)?.id;
  if (id === undefined) throw new TypeError('Only a schema made by apiSchema can be referenced');
  return { $ref: referenceOf(id) };
};

const referenceOf = (id: string): string => `#/components/schemas/${id}`;

/** Every schema by its id, as JSON Schema 2020-12. */
export const apiSchemas = (): Record<string, SchemaObject> => {
  const { schemas } = z.toJSONSchema(registry, {
    uri: referenceOf,
    // From the receiver's view: unknown members are valid.
    io: 'input',
    override: ({ jsonSchema }) => simplify(jsonSchema as Json),
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema as SchemaObject] as const)
      .sort(([a], [b]) => a.localeCompare(b)),
  );
};

/** Simplifies what zod writes at length. An enumeration that may be null stays a choice, as code generators expect. */
const simplify = (schema: Json): void => {
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  delete schema['propertyNames'];
  const [one, none, ...others] = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Json[]) : [];
  if (!one || none?.['type'] !== 'null' || others.length > 0 || typeof one['type'] !== 'string') return;
  if ('enum' in one || 'const' in one) return;
  delete schema['anyOf'];
  Object.assign(schema, one, { type: [one['type'], 'null'] });
};
