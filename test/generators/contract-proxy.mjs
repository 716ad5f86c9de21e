/**
 * `npm run test:contract-proxy`: runs e2e specs through Prism, a proxy that compares each request and each answer with
 * docs/openapi.json. A difference fails the spec. Takes other specs as arguments, as Jest does.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installTools } from './install.mjs';

/**
 * Every route with every credential, and what each addition does. Prism itself refuses a body that is no JSON, and reads a
 * PDF as text.
 */
const SPECS = [
  'validating-proxy',
  'authorisation',
  'recorded-answers',
  'reading',
  'webhooks',
  'keys',
  'client',
  'api-docs',
  'erasure',
  'bulk',
  'test-mode',
  'references',
  'scoped-keys',
  'notices',
  'rate-limits',
  'http',
  'privacy',
  'ledger',
  'projections',
].map((name) => `test/(e2e|support)/${name}\\.(integration\\.)?spec`);

const prism = join(installTools(), 'node_modules/@stoplight/prism-cli/dist/index.js');
const specs = process.argv.length > 2 ? process.argv.slice(2) : SPECS;
const { status } = spawnSync('npx', ['jest', ...specs], {
  stdio: 'inherit',
  env: { ...process.env, VALIDATING_PROXY: prism, NODE_OPTIONS: '--experimental-vm-modules' },
});
process.exitCode = status ?? 1;
