import type { Locale } from '../../document/document.js';
import { loadFile } from './load.js';
import type { Entry } from './shape.js';

/**
 * The entries of `content/<locale>/<file>.yaml`, typeset and checked, each with its key. Reading all files takes half a
 * second.
 * @throws Error naming the file and each fault
 */
export const readEntries = (
  locale: Locale,
  file: string,
): readonly (readonly [key: string, entry: Entry])[] => {
  const { entries, gaps, faults } = loadFile(locale, file);
  const problems = [...gaps.map((path) => `${path} is missing`), ...faults];
  if (problems.length > 0) {
    throw new Error(`content/${locale}/${file}.yaml is not valid:\n  ${problems.join('\n  ')}`);
  }
  return entries.map(({ path, entry }) => [`${file} ${path}`, entry] as const);
};
