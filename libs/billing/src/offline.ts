/** What works on files alone, without a connection: for programs that must not need one. */
export { refundsOf, type Refunds } from './audit/open-refunds.js';
export { verifyExport } from './audit/verify-export.js';
export { handoverOf, readSealKey } from './audit/seal.js';
export { CorrectionsVerifier } from './audit/corrections/verify-corrections.js';
export { withCauses } from './application/audit/signed-for.js';
export { keyDigest, statementDigest } from './domain/signed-text.js';
export { publicKeyOf, readPublicKey, signStatement } from './signatures/signatures.js';
