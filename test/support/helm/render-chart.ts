import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { FUNCTIONS, isDict, isTrue, printed } from './functions.js';
import { parseTemplate, type Body, type Expression, type Value } from './parse-template.js';

type Values = Readonly<Record<string, Value>>;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** The chart's values with those of an installation. As in Helm, null removes a value. */
const coalesced = (chart: Value, given: Value): Value => {
  if (!isDict(chart) || !isDict(given)) return given;
  const all = { ...chart };
  for (const [key, value] of Object.entries(given)) {
    if (value === null) delete all[key];
    else all[key] = key in chart ? coalesced(chart[key], value) : value;
  }
  return all;
};

class Scope {
  private readonly own = new Map<string, Value>();
  constructor(private readonly outer: Scope | null) {}

  get(name: string): Value {
    if (this.own.has(name)) return this.own.get(name);
    if (this.outer === null) throw new Error(`${name} is not set`);
    return this.outer.get(name);
  }

  define(name: string, value: Value): this {
    this.own.set(name, value);
    return this;
  }

  assign(name: string, value: Value): void {
    if (this.own.has(name) || this.outer === null) this.own.set(name, value);
    else this.outer.assign(name, value);
  }
}

const render = (body: Body, defined: ReadonlyMap<string, Body>, root: Value): string => {
  const evaluated = (of: Expression, dot: Value, scope: Scope): Value => {
    const value = (given: Expression): Value => evaluated(given, dot, scope);
    switch (of.is) {
      case 'literal':
        return of.value;
      case 'variable':
        return scope.get(of.name);
      case 'path':
        return of.names.reduce<Value>(
          (from, name) => {
            if (!isDict(from)) throw new Error(`.${of.names.join('.')}: nothing has the field ${name}`);
            return from[name];
          },
          of.of === null ? dot : value(of.of),
        );
      case 'call': {
        if (of.name === 'and' || of.name === 'or') {
          const decisive = of.given.slice(0, -1).find((one) => isTrue(value(one)) === (of.name === 'or'));
          return value(decisive ?? of.given.at(-1)!);
        }
        const given = of.given.map(value);
        if (of.name === 'include') {
          const template = defined.get(printed(given[0]));
          if (template === undefined) throw new Error(`no template is named ${printed(given[0])}`);
          return render(template, defined, given[1]);
        }
        const called = FUNCTIONS[of.name];
        if (called === undefined) throw new Error(`the renderer does not know the function ${of.name}`);
        return called(...(given as never[]));
      }
    }
  };
  const written = (nodes: Body, dot: Value, scope: Scope): string =>
    nodes
      .map((node): string => {
        switch (node.is) {
          case 'text':
            return node.text;
          case 'print':
            return printed(evaluated(node.value, dot, scope));
          case 'set': {
            const value = evaluated(node.value, dot, scope);
            if (node.isNew) scope.define(node.name, value);
            else scope.assign(node.name, value);
            return '';
          }
          case 'if': {
            const branch = isTrue(evaluated(node.value, dot, scope)) ? node.then : node.otherwise;
            return written(branch, dot, new Scope(scope));
          }
          case 'range': {
            const over = evaluated(node.value, dot, scope);
            const entries: readonly (readonly [Value, Value])[] = Array.isArray(over)
              ? [...over.entries()]
              : Object.entries(over ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
            return entries
              .map(([key, value]) => {
                const inner = new Scope(scope);
                const [first, second] = node.names;
                if (second !== undefined) inner.define(first!, key).define(second, value);
                else if (first !== undefined) inner.define(first, value);
                return written(node.body, value, inner);
              })
              .join('');
          }
        }
      })
      .join('');
  return written(body, root, new Scope(null).define('$', root));
};

/**
 * Renders a chart as `helm template` does: values with their schema, then templates, for the release `trial` in the
 * namespace `readings`.
 *
 * @throws Error with one line for each value that the schema refuses, or with what a template says to `fail`
 */
export const renderChart = (
  folder: string,
  given: Values = {},
): { readonly manifests: readonly Manifest[]; readonly notes: string } => {
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const chart = parse(read('Chart.yaml')) as Readonly<Record<string, string>>;
  const values = coalesced(parse(read('values.yaml')), given);
  const ajv = new Ajv({ allErrors: true });
  if (!ajv.validate(JSON.parse(read('values.schema.json')), values))
    throw new Error(
      ajv
        .errors!.map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        )
        .join('\n'),
    );
  const root = {
    Values: values,
    Chart: { Name: chart['name'], Version: chart['version'], AppVersion: chart['appVersion'] },
    Release: { Name: 'trial', Namespace: 'readings', Service: 'Helm' },
  };
  const files = readdirSync(join(folder, 'templates')).toSorted();
  const parsed = files.map((file) => ({ file, ...parseTemplate(read(join('templates', file))) }));
  const defined = new Map(parsed.flatMap((template) => [...template.defined]));
  const rendered = parsed
    .filter(({ file }) => !file.startsWith('_'))
    .map(({ file, body }) => ({ file, text: render(body, defined, root) }));
  const manifests = rendered
    .filter(({ file }) => file.endsWith('.yaml'))
    .flatMap(({ text }) => manifestsOf(text));
  return { manifests, notes: rendered.find(({ file }) => file === 'NOTES.txt')?.text ?? '' };
};

/** The documents of a stream, without empty ones. @throws Error for text that is not YAML, or has a key twice */
export const manifestsOf = (text: string): readonly Manifest[] =>
  parseAllDocuments(text, { version: '1.1', uniqueKeys: true }).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${document.errors[0]!.message}\n${text}`);
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
