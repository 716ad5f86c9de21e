import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { DocumentV1 } from '../document.js';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const schema = readFileSync(projectPath('libs/publishing/schema/document_v1.schema.json'), 'utf8');
const check = ajv.compile(JSON.parse(schema) as AnySchemaObject);

/** What of a tree breaks `schema/document_v1.schema.json`: the path and rule of each violation. */
export const schemaFaults = (document: DocumentV1): string[] =>
  check(document)
    ? []
    : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
