// caught by: domain-does-no-io
export { readFileSync } from 'node:fs';
