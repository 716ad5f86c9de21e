import type { Application } from 'express';

interface RouterLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/**
 * The methods that the application's routes accept at a path, upper case and sorted; none when the path is unknown.
 * Read from the router itself, so that it always matches what is served.
 */
export const allowedMethods = (app: Application, path: string): readonly string[] => {
  const { stack } = app.router as unknown as { stack: readonly RouterLayer[] };
  const methods = new Set<string>();
  for (const layer of stack) {
    if (!layer.route || !layer.match(path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  methods.delete('_ALL');
  return [...methods].sort();
};
