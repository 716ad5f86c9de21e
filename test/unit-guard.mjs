import { expect } from '@jest/globals';
import { suiteOf } from './suites.mjs';

// Not imported: a spec would get the functions as they are now.
const childProcess = process.getBuiltinModule('node:child_process');
const net = process.getBuiltinModule('node:net');

/** What a unit spec does without. Node's own modules are shared by all specs of a Jest worker. */
const FORBIDDEN = [
  [net.Server.prototype, 'listen'],
  [net.Socket.prototype, 'connect'],
  [childProcess.ChildProcess.prototype, 'spawn'],
  [childProcess, 'spawnSync'],
  [childProcess, 'execFileSync'],
  [childProcess, 'execSync'],
];

const { testPath } = expect.getState();
for (const [owner, method] of FORBIDDEN) {
  const original = owner[method].original ?? owner[method];
  owner[method] = original;
  if (suiteOf(testPath) !== 'unit') continue;
  owner[method] = () => {
    throw new Error(`A unit spec does not ${method}: name it *.integration.spec.ts.`);
  };
  owner[method].original = original;
}
