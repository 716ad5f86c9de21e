/** What works on files alone, without a connection: for programs that must not need one. */
export { verifyExport } from './audit/verify-export.js';
export { handoverOf, readSealKey } from './audit/seal.js';
