/**
 * Installs the tools of test/generators/package.json into `.cache/api-tools`, when its lock has changed. They weigh three
 * times what the project itself needs, so `npm ci` of the project leaves them out.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const tools = join(root, '.cache/api-tools');
const FILES = ['package.json', 'package-lock.json'];

/** @returns the folder of the tools */
export const installTools = () => {
  const stamp = join(tools, '.installed');
  const wanted = FILES.map((file) => readFileSync(join(here, file), 'utf8')).join('');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return tools;
  mkdirSync(tools, { recursive: true });
  for (const file of FILES) copyFileSync(join(here, file), join(tools, file));
  copyFileSync(join(root, '.npmrc'), join(tools, '.npmrc'));
  process.stdout.write('Installing the tools into .cache/api-tools…\n');
  execFileSync('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: tools,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(stamp, wanted);
  return tools;
};
