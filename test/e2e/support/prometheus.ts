/** Every PromQL expression in a dashboard or a file of rules. */
export const expressionsOf = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'expr' && typeof inner === 'string' ? [inner] : expressionsOf(inner),
  );
};

const FUNCTIONS = new Set(
  'sum max min rate increase histogram_quantile by on clamp_min time absent vector or and unless le without ignoring'.split(
    ' ',
  ),
);

/** The metrics of an expression and the labels it selects or groups by. */
export const selectorsOf = (expression: string): { metric: string; labels: string[] }[] => {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/));
  const bare = expression
    .replace(/\bby \([^)]*\)/g, '')
    .replace(/"[^"]*"/g, '""')
    .replace(/\[[^\]]*\]/g, '');
  return [...bare.matchAll(/([a-z_][a-z0-9_]*)(?:\{([^}]*)\})?/g)].flatMap(([, name, selectors]) => {
    if (FUNCTIONS.has(name!) || !name!.includes('_')) return [];
    const selected = (selectors ?? '').split(',').flatMap((one) => /^\s*([a-z_]+)/.exec(one)?.[1] ?? []);
    return [{ metric: name!, labels: [...selected, ...grouped.filter((label) => label !== '')] }];
  });
};

/** The value of the series with at least these labels; `undefined` without one. */
export const valueOf = (text: string, metric: string, labels: Readonly<Record<string, string>> = {}) => {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`${metric}{`) && wanted.every((label) => one.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
};

export const labelsByMetric = (text: string): Map<string, Set<string>> => {
  const found = new Map<string, Set<string>>();
  for (const [, name, labels] of text.matchAll(/^([a-z_][a-z0-9_]*)\{(.*)\} /gm)) {
    const known = found.get(name!) ?? new Set(['job', 'instance']);
    for (const [, label] of labels!.matchAll(/([a-z_]+)="/g)) known.add(label!);
    found.set(name!, known);
  }
  return found;
};
