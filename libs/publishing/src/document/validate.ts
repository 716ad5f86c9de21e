import type { DocumentV1 } from './document.js';
import { compileDocumentCheck, type DocumentCheck } from './document-check.js';

let check: DocumentCheck | undefined;

/**
 * Checks a tree against `schema/document_v1.schema.json`.
 * @throws Error with the path and rule of each violation, never a value: the tree contains personal data
 */
export const assertDocument = (document: DocumentV1): void => {
  check ??= compileDocumentCheck();
  if (check(document)) return;
  const faults = (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  throw new Error(`The document does not follow document_v1: ${faults.join('; ')}`);
};
