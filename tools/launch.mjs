/**
 * Starts a bundled program. V8's code cache, which the build wrote, spares compiling it: about a third of the CPU of a
 * start. The build copies this file to `dist/launch.js`.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

const fileOf = (name) => fileURLToPath(new URL(`bundles/${name}`, import.meta.url));

/** Another version of V8 or other flags need another cache. */
const cacheOf = (name) => fileOf(`${name}-${cachedDataVersionTag()}.cache`);

const readCache = (name) => {
  try {
    return readFileSync(cacheOf(name));
  } catch {
    return undefined;
  }
};

const load = (name) => {
  const filename = fileOf(`${name}.cjs`);
  const cachedData = readCache(name);
  // Bundles are ASCII.
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
  return {
    script,
    run: () => script.runInThisContext()(createRequire(filename), filename, dirname(filename)),
  };
};

/** Runs the program `dist/bundles/<name>.cjs` with the arguments of this process. */
export const launch = (name) => load(name).run();

/** The same, and at its end writes a cache of what it has compiled. For the build. */
export const launchAndCache = (name) => {
  const { script, run } = load(name);
  process.on('exit', () => {
    // At once, because a program may be starting.
    const draft = `${cacheOf(name)}.${process.pid}`;
    writeFileSync(draft, script.createCachedData());
    renameSync(draft, cacheOf(name));
  });
  run();
};
