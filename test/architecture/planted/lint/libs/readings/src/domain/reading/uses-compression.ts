// caught by: no-restricted-imports: gzipSync
export { crc32, gzipSync } from 'node:zlib';
