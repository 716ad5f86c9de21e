import crypto from 'node:crypto';

/** What `node:crypto` draws at random, drawn from a count instead that begins anew with each name. */
export const fixedRandom = () => {
  let name = '';
  let draws = 0;
  const bytes = (size: number): Buffer => {
    draws += 1;
    const first = crypto.createHash('sha256').update(`${name} ${draws}`).digest();
    return Buffer.concat(Array.from({ length: Math.ceil(size / first.length) }, () => first)).subarray(
      0,
      size,
    );
  };
  const uuid = (): string => {
    const hex = bytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return {
    begin: (next: string): void => {
      name = next;
      draws = 0;
    },
    module: { ...crypto, default: crypto, randomBytes: bytes, randomUUID: uuid },
  };
};
