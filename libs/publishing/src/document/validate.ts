import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { DocumentV1 } from './document.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * The same schema, which says of each choice between nodes that their `type` decides. Else the check tries every kind of
 * node on every node, which takes as long as composing the document. The published schema stays plain: the keyword is not
 * of JSON Schema.
 */
const withDiscriminators = (root: Schema): Schema => {
  const definitions = root['$defs'] as Readonly<Record<string, Schema>>;
  /** The branches of a choice, and those of a choice within it. */
  const branches = (choice: readonly Schema[]): Schema[] =>
    choice.flatMap((branch) => {
      const name = typeof branch['$ref'] === 'string' ? branch['$ref'].replace('#/$defs/', '') : '';
      const inner = (definitions[name] ?? branch)['oneOf'];
      return Array.isArray(inner) ? branches(inner as Schema[]) : [branch];
    });
  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(within);
    if (typeof value !== 'object' || value === null) return value;
    const copy = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, within(child)]));
    if (!('oneOf' in value)) return copy;
    const oneOf = branches(value.oneOf as Schema[]).map(within);
    return { ...copy, type: 'object', discriminator: { propertyName: 'type' }, oneOf };
  };
  return within(root) as Schema;
};

/** Compiles `schema/document_v1.schema.json`, which takes 0.2 s of CPU. */
const compiled = (): ValidateFunction => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, discriminator: true });
  addFormats.default(ajv);
  const schema = readFileSync(projectPath('libs/publishing/schema/document_v1.schema.json'), 'utf8');
  return ajv.compile(withDiscriminators(JSON.parse(schema) as Schema));
};

let check: ValidateFunction | undefined;

/**
 * Checks a tree against `schema/document_v1.schema.json`.
 * @throws Error with the path and rule of each violation, never a value: the tree contains personal data
 */
export const assertDocument = (document: DocumentV1): void => {
  check ??= compiled();
  if (check(document)) return;
  const faults = (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  throw new Error(`The document does not follow document_v1: ${faults.join('; ')}`);
};
