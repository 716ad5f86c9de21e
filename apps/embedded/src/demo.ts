import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeDataFolder } from './data-folder.js';
import { walkThrough, type Step } from './demo/walk-through.js';
import { Stack } from './stack.js';

const DEADLINE_MS = 300_000;

/** The demo receives webhooks on this machine, which the service refuses by default. */
const DEMO_SETTINGS = {
  PORT: '0',
  HOST: '127.0.0.1',
  WEBHOOK_ALLOW_HTTP: '1',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

let current = 'start the stack';
const step: Step = async (name, work) => {
  current = name;
  const begin = performance.now();
  try {
    const result = await work();
    say(`  ✓ ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    return result;
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

/** Rejects when the demo must end early. */
const interruption = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => reject(new Error(`interrupted by ${signal}`)));
  void sleep(DEADLINE_MS, undefined, { ref: false }).then(() =>
    reject(new Error(`not finished within ${DEADLINE_MS / 1000} s; last step: ${current}`)),
  );
});

const dataDir = mkdtempSync(join(tmpdir(), 'reading-service-demo-'));
let childFailed = (_message: string): void => undefined;
const failure = new Promise<never>((_, reject) => (childFailed = (message) => reject(new Error(message))));
const stack = new Stack({
  dataDir,
  environment: { ...process.env, ...DEMO_SETTINGS },
  say: (line) => say(`  ${line}`),
  onFailure: (message) => childFailed(message),
});

const demo = async (): Promise<void> => {
  say('Runs the service from order to delivery, on free ports and in a temporary folder.');
  const running = await step('start the stack', () => stack.start());
  await walkThrough(running, step, say);
};

try {
  await Promise.race([demo(), interruption, failure]);
  say('Done: every step succeeded.');
} catch (error) {
  process.stderr.write(`The demo failed. ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await stack.stop();
  removeDataFolder(dataDir);
}
process.exit();
