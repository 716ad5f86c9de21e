import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';

const FILES = {
  document_v1: 'libs/publishing/schema/document_v1.schema.json',
  result: 'libs/numerology/schema/result.schema.json',
} as const;

/** The JSON Schemas (2020-12) of a reading's result and document, by the name in their URL. */
export type PublishedSchema = keyof typeof FILES;
export const PUBLISHED_SCHEMAS = Object.keys(FILES) as readonly PublishedSchema[];

/** The published bytes of a schema. */
export const readSchema = (name: PublishedSchema): Buffer => readFileSync(projectPath(FILES[name]));

/** The location of a schema in the OpenAPI document, for `$ref`. */
export const schemaReference = (name: PublishedSchema): string => `#/components/schemas/${name}`;

/**
 * The schemas as OpenAPI 3.1 components. Their `$defs` become components too, named after both: code generators do not
 * find what is nested.
 */
export const schemaComponents = (): Record<string, object> =>
  Object.fromEntries(
    PUBLISHED_SCHEMAS.flatMap((name) => {
      const text = readSchema(name)
        .toString('utf8')
        .replaceAll('"#/$defs/', `"${schemaReference(name)}_`);
      const { $schema: _dialect, $id: _id, $defs = {}, ...schema } = JSON.parse(text) as PublishedJson;
      const parts = Object.entries($defs).map(([part, shape]) => [`${name}_${part}`, shape]);
      return [[name, schema], ...parts] as [string, object][];
    }),
  );

interface PublishedJson {
  readonly $schema: string;
  readonly $id: string;
  readonly $defs?: Readonly<Record<string, object>>;
}
