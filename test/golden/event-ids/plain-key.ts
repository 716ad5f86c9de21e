import { createHash } from 'node:crypto';
import { SealBroken } from '#platform/crypto/sealing.js';
import type { SubjectKey } from '#platform/crypto/subject-keys.js';

/** A key without encryption. Sealed data names its key and its place in clear. */
export const plainKey = (serial: number): SubjectKey => ({
  seal: (context, bytes) => Buffer.concat([prefix(serial, context), bytes]),
  open: (context, sealed) => {
    const begin = prefix(serial, context);
    if (!Buffer.from(sealed).subarray(0, begin.length).equals(begin)) throw new SealBroken('another key');
    return Buffer.from(sealed.subarray(begin.length));
  },
  digest: (_, bytes) => createHash('sha256').update(bytes).digest(),
});

const prefix = (serial: number, context: string): Buffer => Buffer.from(`${serial} ${context}:`);
