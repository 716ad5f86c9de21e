// caught by: eslint(no-restricted-imports): randomBytes
// caught by: eslint(no-restricted-imports): randomUUID
// caught by: eslint(no-restricted-imports): hashing
// caught by: eslint(no-restricted-properties): random
// caught by: eslint(no-restricted-globals): random
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import everything from 'node:crypto';

export const values = [Math.random(), crypto.randomUUID(), randomBytes, randomUUID, everything, createHash];
