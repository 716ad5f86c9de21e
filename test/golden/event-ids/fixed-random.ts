import crypto from 'node:crypto';

/** Replaces the random values of `node:crypto` by counters, one for each kind. Each name restarts them. */
export const fixedRandom = () => {
  let name = '';
  let draws: Record<string, number> = {};
  const draw = (kind: string, size: number): Buffer => {
    const count = (draws[kind] ?? 0) + 1;
    draws[kind] = count;
    const first = crypto.createHash('sha256').update(`${name} ${kind} ${count}`).digest();
    return Buffer.concat(Array.from({ length: Math.ceil(size / first.length) }, () => first)).subarray(
      0,
      size,
    );
  };
  const uuid = (): string => {
    const hex = draw('uuid', 16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return {
    begin: (next: string): void => {
      name = next;
      draws = {};
    },
    module: {
      ...crypto,
      default: crypto,
      randomBytes: (size: number) => draw('bytes', size),
      randomUUID: uuid,
    },
  };
};
