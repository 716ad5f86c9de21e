const { readFileSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
const OURS = ['apps', 'libs', 'test'].map((folder) => path.join(root, folder) + path.sep);

/** File names of the bundles of packages, by the names of the packages. */
let bundles;

/** Jest's resolver: our files get packages from the bundles of bundle.mjs, and packages get their own files. */
module.exports = (name, options) => {
  const folder = process.env.TEST_PACKAGES;
  bundles ??=
    folder && new Map(Object.entries(JSON.parse(readFileSync(path.join(folder, 'names.json'), 'utf8'))));
  const file = bundles?.get(name);
  if (file !== undefined && OURS.some((one) => `${options.basedir}${path.sep}`.startsWith(one)))
    return path.join(folder, file);
  return options.defaultResolver(name, options);
};
