import { execFile } from 'node:child_process';
import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ConfigError } from '@app/platform/config/load-config.js';
import { projectPath } from '@app/platform/project-path.js';
import { banner, firstSteps, portalStep } from './banner.js';
import { dataDirOf } from './data-folder.js';
import { demoPortalLink, openDemoWorkspace } from './first-start.js';
import { Stack, type AppName } from './stack.js';
import { StackError } from './stack-error.js';

/** `npm run dev`: the embedded stack. Its API and worker restart when their sources change; data is kept. */

/** Editors write a file in several steps, and often several files at once. */
const SETTLED_AFTER_MS = 100;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (error: unknown): void => {
  const isExpected = error instanceof StackError || error instanceof ConfigError;
  const { message, stack: trace } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`${isExpected ? message : (trace ?? message)}\n`);
};

const stack = new Stack({
  dataDir: dataDirOf(process.env),
  environment: process.env,
  say,
  // A module compiles faster than a bundle.
  programOf: (name) => projectPath('dist', 'apps', name, 'src', 'main.js'),
  onFailure: (message) => {
    complain(new StackError(message));
    void stop(1);
  },
});

let isStopping = false;
const stop = async (exitCode: number): Promise<void> => {
  if (isStopping) return;
  isStopping = true;
  say('Stopping…');
  await stack.stop();
  process.exit(exitCode);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
if (process.env['EXIT_WITH_PARENT'] === '1') process.stdin.on('end', () => void stop(0)).resume();

/** The processes that run the code of a source file, by its path in the project. */
const processesOf = (file: string): readonly AppName[] => {
  if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) return [];
  if (file.startsWith('apps/api/')) return ['api'];
  if (file.startsWith('apps/worker/')) return ['worker'];
  return file.startsWith('libs/') ? ['api', 'worker'] : [];
};

/** @returns whether it compiled; if not, the running processes stay. */
const build = async (): Promise<boolean> => {
  try {
    await promisify(execFile)(process.execPath, [
      projectPath('tools', 'build.mjs'),
      '--if-stale',
      '--modules',
    ]);
    return true;
  } catch (error) {
    process.stderr.write(
      `${(error as { stderr: string }).stderr}\nNot restarted: the code does not compile.\n`,
    );
    return false;
  }
};

const touched = new Set<AppName>();
let isRestarting = false;

const restartTouched = async (): Promise<void> => {
  if (isRestarting) return;
  isRestarting = true;
  while (touched.size > 0 && !isStopping) {
    await sleep(SETTLED_AFTER_MS);
    const names = [...touched];
    touched.clear();
    const begin = performance.now();
    if (!(await build())) continue;
    const results = await Promise.allSettled(names.map((name) => stack.restart(name)));
    const failed = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    // Stopping a process while it starts is not a failure.
    if (!isStopping) failed.forEach(complain);
    if (failed.length === 0)
      say(`Restarted ${names.join(' and ')} in ${((performance.now() - begin) / 1_000).toFixed(1)} s`);
  }
  isRestarting = false;
};

try {
  const running = await stack.start();
  const workspace =
    process.env['EMBEDDED_SKIP_DEMO_WORKSPACE'] === '1' ? undefined : await openDemoWorkspace(running);
  for (const folder of ['apps', 'libs'])
    watch(projectPath(folder), { recursive: true }, (_, file) => {
      for (const name of processesOf(`${folder}/${file ?? ''}`)) touched.add(name);
      void restartTouched();
    });
  say(banner(running, (performance.now() / 1_000).toFixed(1)));
  if (workspace) say(firstSteps(running, workspace));
  const link =
    process.env['EMBEDDED_SKIP_DEMO_WORKSPACE'] === '1' ? undefined : await demoPortalLink(running);
  if (link) say(portalStep(running, link));
  say('Watching apps/ and libs/: a process restarts when its sources change.');
} catch (error) {
  if (!isStopping) {
    isStopping = true;
    complain(error);
    await stack.stop();
    process.exit(1);
  }
}
