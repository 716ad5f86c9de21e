import { afterAll, beforeAll } from '@jest/globals';

/**
 * What the tests of a file, or of a `describe`, share: it starts before them, and stops after them. Its members are there
 * within tests alone.
 */
export const fixture = <T extends object>(
  start: () => Promise<T>,
  stop: (started: T) => unknown = (started) => (started as { stop?(): unknown }).stop?.(),
): T => {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(async () => {
    if (started) await stop(started);
  });
  const current = (): T => {
    if (!started) throw new Error('It has not started: use it within tests');
    return started;
  };
  return new Proxy({} as T, {
    get: (_, name) => {
      const member: unknown = Reflect.get(current(), name);
      return typeof member === 'function' ? member.bind(current()) : member;
    },
    set: (_, name, value) => Reflect.set(current(), name, value),
    ownKeys: () => {
      throw new Error('It has no members of its own to copy: name those that you need');
    },
  });
};
