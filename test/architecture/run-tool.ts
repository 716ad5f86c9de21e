import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';

/**
 * Runs a tool from node_modules as continuous integration does, and parses its JSON output. Ignores the exit code,
 * since a tool with findings exits with an error. @throws SyntaxError when the output is not JSON
 */
export const runTool = <Report>(script: string, args: readonly string[], cwd: string): Promise<Report> =>
  new Promise((resolve, reject) => {
    const command = [projectPath('node_modules', script), ...args];
    // The tool must not inherit the test runner's options.
    const env = { ...process.env, NODE_OPTIONS: '' };
    execFile(process.execPath, command, { cwd, env, maxBuffer: 256 * 1024 * 1024 }, (_, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Report);
      } catch {
        reject(
          new SyntaxError(`${script} printed no JSON: ${stdout.slice(0, 1_000)}${stderr.slice(0, 1_000)}`),
        );
      }
    });
  });

/** TypeScript files in a folder and its subfolders, as sorted relative paths. */
export const typeScriptFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
    .sort();
