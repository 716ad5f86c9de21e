const { readFileSync } = require('node:fs');
const { join, sep } = require('node:path');

const root = join(__dirname, '..', '..');
const OURS = ['apps', 'libs', 'test'].map((folder) => join(root, folder) + sep);

/** File names of the bundles of packages, by the names of the packages. */
let bundles;

/** Jest's resolver: our files get packages from the bundles of bundle.mjs, and packages get their own files. */
module.exports = (name, options) => {
  const folder = process.env.TEST_PACKAGES;
  bundles ??= folder && new Map(Object.entries(JSON.parse(readFileSync(join(folder, 'names.json'), 'utf8'))));
  const file = bundles?.get(name);
  if (file !== undefined && OURS.some((one) => `${options.basedir}${sep}`.startsWith(one)))
    return join(folder, file);
  return options.defaultResolver(name, options);
};
