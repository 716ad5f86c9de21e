// caught by: no-restricted-imports: randomBytes
// caught by: no-restricted-imports: randomUUID
// caught by: no-restricted-imports: hashing
// caught by: no-restricted-properties: random
// caught by: no-restricted-globals: random
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import everything from 'node:crypto';

export const values = [Math.random(), crypto.randomUUID(), randomBytes, randomUUID, everything, createHash];
