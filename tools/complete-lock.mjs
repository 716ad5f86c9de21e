/**
 * Completes package-lock.json when a registry, such as an outdated mirror, lacks the optional packages of
 * other platforms. `npm install` leaves such packages out of the lock, and `npm ci` then refuses that lock:
 * "Missing: … from lock file". Run this after every `npm install` that changed the lock. It does not change a
 * complete lock.
 *
 * The integrity of an added entry comes from the last commit's lock or from the registry. If neither knows
 * the package, get the hash from a registry that does (`npm view NAME@VERSION dist.integrity`) and pass it:
 *     node tools/complete-lock.mjs NAME@VERSION=sha512-…
 * Without a hash for every entry it writes nothing, because npm installs an entry without a hash unchecked.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const OPERATING_SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
/** The processor in the last parts of a package name, mapped to Node's name for it. */
const PROCESSORS = { 'arm-eabi': 'arm', 'arm-gnueabihf': 'arm', 'arm-musleabihf': 'arm', wasm32: 'wasm32' };
for (const name of ['arm64', 'arm', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'])
  PROCESSORS[name] = name;

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const { packages } = lock;

/** Whether `from` can resolve `name` in Node's walk up the node_modules folders. */
const isLocked = (from, name) => {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
};

/** The platform in a name of the form `…-<os>-<cpu>[-<abi>]`. @throws Error for a name of another form */
const platformOf = (name) => {
  const parts = name.split('/').at(-1).split('-');
  const at = parts.findIndex((part) => OPERATING_SYSTEMS.includes(part));
  const [processor, abi] = parts.slice(at + 1);
  const cpu = PROCESSORS[`${processor}-${abi}`] ?? PROCESSORS[processor];
  if (at < 0 || !cpu)
    throw new Error(`The platform of ${name} is unknown: add its entry to package-lock.json by hand.`);
  const libc = abi?.startsWith('gnu') ? ['glibc'] : abi?.startsWith('musl') ? ['musl'] : undefined;
  return { cpu: [cpu], ...(libc && { libc }), os: [parts[at]] };
};

const output = (program, args) => {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 26,
    });
  } catch {
    return '';
  }
};

const HASH = /^sha512-[A-Za-z0-9+/]{86}==$/;
const given = new Map(
  process.argv.slice(2).map((argument) => {
    const at = argument.indexOf('=');
    return [argument.slice(0, at), argument.slice(at + 1)];
  }),
);
const committed = JSON.parse(output('git', ['show', 'HEAD:package-lock.json']) || '{"packages":{}}').packages;

/** @returns the hash of a missing package, or undefined */
const integrityOf = (name, version) => {
  const before = committed[`node_modules/${name}`];
  const candidates = [
    () => given.get(`${name}@${version}`),
    () => (before?.version === version ? before.integrity : undefined),
    () => output('npm', ['view', `${name}@${version}`, 'dist.integrity']).trim(),
  ];
  for (const candidate of candidates) {
    const hash = candidate();
    if (hash && HASH.test(hash)) return hash;
  }
  return undefined;
};

const added = {};
const unknown = [];
for (const [path, entry] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(path, name)) continue;
    if (!/^\d+\.\d+\.\d+/.test(version))
      throw new Error(`${name}@${version} is not locked, and its version is not exact.`);
    const { cpu, libc, os } = platformOf(name);
    const integrity = integrityOf(name, version);
    if (!integrity) unknown.push(`${name}@${version}`);
    added[`node_modules/${name}`] = {
      version,
      integrity,
      cpu,
      ...(entry.dev && { dev: true }),
      ...(libc && { libc }),
      license: entry.license,
      optional: true,
      os,
      ...(entry.engines && { engines: entry.engines }),
    };
  }
}

if (unknown.length > 0) {
  console.error(
    `Nothing was written, because an integrity is missing: pass NAME@VERSION=sha512-… for\n  ${unknown.join('\n  ')}`,
  );
  process.exit(1);
}
if (Object.keys(added).length > 0) {
  const byPath = ([a], [b]) => a.localeCompare(b, 'en');
  lock.packages = Object.fromEntries(Object.entries({ ...packages, ...added }).sort(byPath));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
console.log(`${Object.keys(added).length} optional packages added to package-lock.json`);
for (const path of Object.keys(added)) console.log(`  ${path.slice('node_modules/'.length)}`);
