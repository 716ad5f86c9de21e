import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type DocumentCheck = ValidateFunction;

/**
 * Compiles `schema/document_v1.schema.json`. In a bundle, this module holds the compiled code instead
 * (tools/bundle.mjs), since each worker would spend 0.2 s of CPU on it.
 */
export const compileDocumentCheck = (): { readonly ajv: Ajv2020; readonly check: DocumentCheck } => {
  // For the bundle.
  const code = { source: true, esm: true };
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, code });
  addFormats.default(ajv);
  const schema = readFileSync(projectPath('libs/publishing/schema/document_v1.schema.json'), 'utf8');
  return { ajv, check: ajv.compile(JSON.parse(schema) as object) };
};
