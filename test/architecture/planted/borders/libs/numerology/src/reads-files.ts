// caught by: numerology-stands-alone
export { readFileSync } from 'node:fs';
