import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Specs that ask test/support/rounds.ts how often they repeat. */
const specs = ['libs', 'test']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter(
    (file) => file.endsWith('.spec.ts') && readFileSync(join(root, file), 'utf8').includes('/rounds.js'),
  );

const HELP = `Runs the long form of tests that repeat with chance, one after the other.

  npm run test:soak -- [names…] [--count N] [--seed N]

  names    parts of the paths of specs; without any, all of them
  --count  repetitions, seeds or requests: each spec says of what; its own long form when left out
  --seed   repeats a run: a failure names its seed

Example:
  npm run test:soak -- simulation --seed 7 --count 10000

Specs:
${specs.map((file) => `  ${file}\n`).join('')}`;

const options = {
  count: { type: 'string' },
  seed: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
};
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const wanted = specs.filter(
  (file) => positionals.length === 0 || positionals.some((name) => file.includes(name)),
);
const areKnown = positionals.every((name) => specs.some((file) => file.includes(name)));
const areNumbers = [values.count, values.seed].every((text = '1') => /^[1-9]\d{0,8}$/.test(text));
if (values.help || !areKnown || !areNumbers) {
  process.stdout.write(HELP);
  process.exit(values.help ? 0 : 2);
}
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'jest'),
  ['--runInBand', '--runTestsByPath', ...wanted],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
      SOAK: '1',
      ...(values.count && { SOAK_COUNT: values.count }),
      ...(values.seed && { SOAK_SEED: values.seed }),
    },
  },
);
process.exit(status ?? 1);
