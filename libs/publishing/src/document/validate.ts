import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { DocumentV1 } from './document.js';

const compile = (): ValidateFunction => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false });
  addFormats.default(ajv);
  const schema = readFileSync(projectPath('libs/publishing/schema/document_v1.schema.json'), 'utf8');
  return ajv.compile(JSON.parse(schema) as object);
};

let validate: ValidateFunction | undefined;

/**
 * Checks a tree against `schema/document_v1.schema.json`.
 * @throws Error with the path and rule of each violation, never a value: the tree contains personal data
 */
export const assertDocument = (document: DocumentV1): void => {
  validate ??= compile();
  if (validate(document)) return;
  const faults = (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath} ${message ?? ''}`,
  );
  throw new Error(`The document does not follow document_v1: ${faults.join('; ')}`);
};
