import { projectPath } from './project-path.js';

/** The programs that `tools/build.mjs` bundles. */
export type Program = 'api' | 'worker' | 'ops' | 'embedded' | 'demo' | 'embedded-event-store';

/** Absolute path of a program, to be run with `process.execPath`. The project must be built. */
export const programPath = (name: Program): string => projectPath('dist', `${name}.js`);
