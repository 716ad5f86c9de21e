/**
 * Prints how large the project is, so that a change can be judged by what it removes.
 *
 * Product is what runs or is built from: TypeScript, JavaScript and SQL under apps, libs and tools, without specs, without
 * folders named `test` or `testing`, without the client's generated types, and without the texts of readings (`content`).
 * Everything else of these languages there and under `test` is a spec or supports one. Lines count as they stand, empty
 * ones and comments too.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const CODE = /\.(tsx?|mjs|mts|sql)$/;
const OF_SPECS = /(^|\/)(test|testing)\/|\.spec\.tsx?$/;
const NOT_COUNTED = /^libs\/client\/src\/api\.ts$|^libs\/publishing\/content\//;

const files = execFileSync('git', ['ls-files', 'apps', 'libs', 'tools', 'test', 'docs', '*.md'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean);
const text = (path) => readFileSync(path, 'utf8');
const linesOf = (paths) => paths.reduce((sum, path) => sum + text(path).split('\n').length - 1, 0);

const code = files.filter((path) => CODE.test(path) && !NOT_COUNTED.test(path));
const specs = code.filter((path) => OF_SPECS.test(path));
const product = code.filter((path) => !OF_SPECS.test(path));
const roomOf = (path) =>
  path
    .split('/')
    .slice(0, 2)
    .join('/')
    .replace(/^tools\/[^/]*\.m[jt]s$/, 'tools');
const rooms = [...new Set(product.map(roomOf))].map((room) => [
  room,
  linesOf(product.filter((path) => roomOf(path) === room)),
]);
const settings = text('docs/settings.md').match(/^\| `[A-Z]/gm) ?? [];
const streams = product.flatMap((path) => text(path).match(/= eventCatalogue\(/g) ?? []);
const docs = files.filter((path) => path.endsWith('.md'));

const size = {
  productLines: linesOf(product),
  specLines: linesOf(specs),
  files: product.length,
  folders: new Set(product.map(dirname)).size,
  settings: settings.length,
  kindsOfStreams: streams.length,
  wordsOfDocs: docs.reduce((sum, path) => sum + text(path).split(/\s+/).filter(Boolean).length, 0),
};
for (const [name, value] of Object.entries(size)) console.log(`${name.padEnd(28)} ${value}`);
console.log('\nproduct lines by room');
for (const [room, lines] of rooms.toSorted(([, one], [, other]) => other - one))
  console.log(`${room.padEnd(28)} ${lines}`);
