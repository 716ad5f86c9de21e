import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';

/** Version of the prose (`<year>.<month>.<counter>`), stored with each reading and printed in each document. */
export const CONTENT_VERSION: string = readFileSync(
  projectPath('libs/publishing/content/CONTENT_VERSION'),
  'utf8',
).trim();
