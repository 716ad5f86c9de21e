import { generateKeyPairSync } from 'node:crypto';
import type { Config } from '../src/settings.js';
import { OPERATORS } from './operators.js';

/** The settings that audits look at. */
export const auditConfig = (own: Partial<Config> = {}): Config =>
  ({ CLOCK_REFUSE_MS: 10_000, OPERATORS, ...own }) as unknown as Config;

/** Account codes as LEDGER_ACCOUNTS has them by default. */
export const CODES = {
  receivable: '1200',
  deferred: '2400',
  refunds: '2450',
  revenue: '4000',
  breakage: '4100',
  corrections: '4900',
};

/** A new key pair for seals, PEM. */
export const sealKeys = () =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
