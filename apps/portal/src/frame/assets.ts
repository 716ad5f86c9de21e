import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { StaticDocument } from '#platform/http/static-documents.js';
import { projectPath } from '#platform/project-path.js';

/** An address has the hash of its contents, so browsers need not ask again. */
const FOR_A_YEAR = 'public, max-age=31536000, immutable';

const asset = (home: string, name: string, mediaType: string): StaticDocument => {
  const bytes = readFileSync(projectPath('apps/portal/assets', name));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return { path: `${home}/assets/${hash}-${name}`, mediaType, cacheControl: FOR_A_YEAR, bytes };
};

/**
 * Reads what every page loads: the style, the icon and the script.
 * @param home the path of the site, without a slash at its end
 */
export const readAssets = (home: string) => {
  const style = asset(home, 'portal.css', 'text/css; charset=utf-8');
  const icon = asset(home, 'mark.svg', 'image/svg+xml');
  const script = asset(home, 'portal.js', 'text/javascript; charset=utf-8');
  return {
    documents: [style, icon, script],
    paths: { style: style.path, icon: icon.path, script: script.path },
  };
};

export type Assets = ReturnType<typeof readAssets>['paths'];
