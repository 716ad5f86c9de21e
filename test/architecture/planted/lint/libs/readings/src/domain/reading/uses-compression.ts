// caught by: eslint(no-restricted-imports): gzipSync
export { crc32, gzipSync } from 'node:zlib';
