// caught by: kernel-core-is-plain-typescript
export { readFileSync } from 'node:fs';
