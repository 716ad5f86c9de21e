/**
 * Runs the linters side by side, and prints the output of each when it ends. Exits with an error when one fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The scripts of package.json, the slowest first. */
const LINTERS = ['lint:code', 'lint:borders', 'lint:format', 'lint:prose', 'lint:openapi'];

/** @returns whether the linter found nothing */
const run = async (script) => {
  const linter = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [linter.stdout, linter.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(linter, 'close');
  process.stdout.write(`== ${script}: ${code === 0 ? 'passed' : 'failed'}\n${output}`);
  return code === 0;
};

const passed = await Promise.all(LINTERS.map(run));
if (!passed.every(Boolean)) process.exitCode = 1;
