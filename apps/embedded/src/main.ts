import { ConfigError } from '#platform/config/load-config.js';
import { banner, firstSteps, portalStep } from './banner.js';
import { OWN_SETTINGS } from './child-environment.js';
import { HELP, parseArguments } from './command-line.js';
import { dataDirOf } from './data-folder.js';
import { demoPortalLink, openDemoWorkspace } from './first-start.js';
import { Stack } from './stack.js';
import { StackError } from './stack-error.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const complain = (error: unknown): void => {
  const expected = error instanceof StackError || error instanceof ConfigError;
  const text =
    error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`${text}\n`);
};

// A closed terminal or pipe must not crash the stack; a closed terminal also sends SIGHUP.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const run = async (): Promise<void> => {
  const begin = performance.now();
  let stopping = false;
  const stop = async (exitCode: number): Promise<void> => {
    // Under npm, Ctrl-C arrives twice: from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    say('Stopping…');
    await stack.stop();
    say('Stopped.');
    process.exit(exitCode);
  };
  const stack = new Stack({
    dataDir: dataDirOf(process.env),
    environment: process.env,
    say,
    onFailure: (message) => {
      complain(new StackError(message));
      void stop(1);
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
  if (process.env['EXIT_WITH_PARENT'] === '1') process.stdin.on('end', () => void stop(0)).resume();
  for (const name of OWN_SETTINGS) {
    if (process.env[name]) say(`${name} is ignored: the embedded stack sets it.`);
  }

  try {
    const running = await stack.start();
    const workspace =
      process.env['EMBEDDED_SKIP_DEMO_WORKSPACE'] === '1' ? undefined : await openDemoWorkspace(running);
    say(banner(running, ((performance.now() - begin) / 1000).toFixed(1)));
    if (workspace) say(firstSteps(running, workspace));
    const link =
      process.env['EMBEDDED_SKIP_DEMO_WORKSPACE'] === '1' ? undefined : await demoPortalLink(running);
    if (link) say(portalStep(running, link));
  } catch (error) {
    // A signal during the start also makes it fail.
    if (stopping) return;
    stopping = true;
    complain(error);
    await stack.stop();
    process.exit(1);
  }
};

const wanted = parseArguments(process.argv.slice(2));
if (wanted === 'help') {
  process.stdout.write(HELP);
} else if (wanted === 'start') {
  await run();
} else {
  process.stderr.write(`Unknown argument ${wanted.unknown}; see --help.\n`);
  process.exitCode = 1;
}
