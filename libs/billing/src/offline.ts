/** What works on files alone, without a connection: for programs that must not need one. */
export { refundsOf, type Refunds } from './audit/open-refunds.js';
export { handoverOf, readSealKey } from './audit/seal.js';
export { textsToSign } from './signatures.js';
export { parseOperators } from './settings.js';
export { publicKeyOf, signText } from './signatures.js';
