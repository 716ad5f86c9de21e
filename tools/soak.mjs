import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HELP = `Runs the long form of tests that repeat with chance, one after the other.

  npm run test:soak -- [names…] [--count N] [--seed N]

  names    parts of the paths of specs; without any, all of them
  --count  repetitions, seeds or requests: each spec says of what; its own long form when left out
  --seed   repeats a run: a failure names its seed

Examples:
  npm run test:soak -- simulation --seed 7 --count 10000
  npm run test:soak -- kill-nine --count 300

Specs:
`;

const root = fileURLToPath(new URL('..', import.meta.url));
/** Specs that ask test/support/rounds.ts how often they repeat. */
const specs = ['libs', 'test']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter(
    (file) => file.endsWith('.spec.ts') && readFileSync(join(root, file), 'utf8').includes('/rounds.js'),
  );

const options = {
  count: { type: 'string' },
  seed: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
};
/** @returns the arguments. Ends the program when it cannot read them. */
const read = () => {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    for (const name of ['count', 'seed'])
      if (values[name] !== undefined && !/^[1-9]\d{0,8}$/.test(values[name]))
        throw new Error(`--${name} takes a whole number from 1 to 999999999`);
    for (const name of positionals)
      if (!specs.some((file) => file.includes(name))) throw new Error(`No spec's path contains ${name}`);
    return { values, positionals };
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${HELP}${specs.map((file) => `  ${file}\n`).join('')}`);
    process.exit(2);
  }
};

const { values, positionals } = read();
if (values.help) {
  process.stdout.write(`${HELP}${specs.map((file) => `  ${file}\n`).join('')}`);
  process.exit();
}
const wanted = specs.filter(
  (file) => positionals.length === 0 || positionals.some((name) => file.includes(name)),
);
const jest = join(root, 'node_modules', '.bin', 'jest');
const { status } = spawnSync(jest, ['--runInBand', '--runTestsByPath', ...wanted], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
    SOAK: '1',
    ...(values.count && { SOAK_COUNT: values.count }),
    ...(values.seed && { SOAK_SEED: values.seed }),
  },
});
process.exit(status ?? 1);
