import { errorPath } from './pages.mjs';
import { parse, textOf } from './markdown.mjs';

const json = (value) => ['```json', JSON.stringify(value, null, 2), '```'].join('\n');
const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The operations that can answer with each problem code. */
const operationsByCode = (api) => {
  const found = new Map();
  for (const [path, item] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(item)) {
      const text = JSON.stringify(operation.responses);
      for (const [, code] of text.matchAll(/#\/components\/(?:examples|responses)\/(\w+)"/g)) {
        const known = found.get(code) ?? new Map();
        found.set(code, known.set(`${method.toUpperCase()} ${path}`, operation));
      }
    }
  return found;
};

/** More operations than that: a list would say nothing. */
const FEW = 8;

const whereItOccurs = (operations, count) => {
  if (operations.length === 0) return 'A path or method that does not exist answers with it.';
  if (operations.length === count) return 'Every operation can answer with it.';
  if (operations.length > FEW) return `${operations.length} of ${count} operations can answer with it.`;
  return operations.map(([route, { summary }]) => `- \`${route}\`: ${summary}`).join('\n');
};

/**
 * One page for each problem code that the document has: its part of docs/errors.md, an answer, and the operations that give it.
 * @param tree the syntax tree of docs/errors.md
 * @param api docs/openapi.json
 */
export const errorPages = (tree, api) => {
  const operations = operationsByCode(api);
  const count = Object.values(api.paths).flatMap((item) => Object.keys(item)).length;
  const explained = new Map();
  let code;
  for (const node of tree.children) {
    if (node.type === 'heading') {
      code = node.depth === 3 ? textOf(node) : undefined;
      if (code !== undefined) explained.set(code, []);
    } else if (code !== undefined) explained.get(code).push(node);
  }
  const known = [...explained].filter(([name]) => name in api.components.examples);
  return known.map(([name, nodes]) => {
    const { summary, value } = api.components.examples[name];
    const head = parse(`# \`${name}\`\n\n**${value.status}** · ${summary} · \`type\` is \`${value.type}\``);
    const rest = parse(
      `## Example\n\n${json(value)}\n\n## Where it occurs\n\n${whereItOccurs([...(operations.get(name) ?? [])], count)}\n\n[All errors](/docs/errors)`,
    );
    return {
      path: errorPath(name),
      title: name,
      summary,
      tree: { type: 'root', children: [...head.children, ...nodes, ...rest.children] },
    };
  });
};

/** docs/errors.md with a link from each code to its page. */
export const withErrorLinks = (tree, api) => {
  const children = tree.children.map((node) => {
    if (node.type !== 'heading' || !(textOf(node) in api.components.examples)) return node;
    return { ...node, children: [{ type: 'link', url: errorPath(textOf(node)), children: node.children }] };
  });
  return { ...tree, children };
};

/** Resolves a reference to a component of the document. */
const resolved = (api, schema) =>
  schema.$ref
    ? schema.$ref
        .split('/')
        .slice(1)
        .reduce((part, step) => part[step], api)
    : schema;

const typeOf = (schema) => {
  const one = schema.anyOf ? schema.anyOf.map(typeOf).join(' or ') : [schema.type].flat().join(' or ');
  return schema.enum && schema.enum.length < 5 ? schema.enum.map((value) => `\`${value}\``).join(', ') : one;
};

/** The members of a schema, one row each; those of inner objects with their path. */
const members = (api, schema, before = '') => {
  const { properties = {}, allOf = [] } = resolved(api, schema);
  const all = [
    ...allOf.flatMap((part) => Object.entries(resolved(api, part).properties ?? {})),
    ...Object.entries(properties),
  ];
  return [...new Map(all)].flatMap(([name, member]) => {
    const shape = resolved(api, member);
    const object = [shape, ...(shape.anyOf ?? []).map((one) => resolved(api, one))].find(
      (one) => one.properties,
    );
    const row = `| \`${before}${name}\` | ${cell(object ? 'object' : typeOf(shape))} | ${cell(member.description ?? shape.description ?? '')} |`;
    return [row, ...(object ? members(api, object, `${before}${name}.`) : [])];
  });
};

/** Notices have a header of their own instead of that of events. */
const isNotice = ({ post }) => post.parameters.some(({ name }) => name === 'X-Service-Notice');

const described = ([type, { post }]) => [
  `## \`${type}\``,
  `${post.summary}.`,
  json(post.requestBody.content['application/json'].example),
];

const membersOf = (api, { post }, of = 'member') => {
  const { schema } = post.requestBody.content['application/json'];
  return [`| ${of} | type | meaning |`, '|---|---|---|', ...members(api, schema.allOf?.[0] ?? schema)].join(
    '\n',
  );
};

/** The catalogue of events with their headers and bodies, from the webhooks of the document. */
export const eventsPage = (api) => {
  const webhooks = Object.entries(api.webhooks);
  const { responses } = webhooks[0][1].post;
  const all = webhooks.flatMap(([, { post }]) => post.parameters);
  const headers = [...new Map(all.map((one) => [one.name, one])).values()];
  const text = [
    '# Events and notices',
    'A [webhook endpoint](/docs/webhooks) receives the four types of events as signed POSTs. `GET /api/v1/events` lists the same events. [Notices](/docs/events#notices) report everything else; they are no events of a reading.',
    ...webhooks.filter(([, one]) => !isNotice(one)).flatMap(described),
    '## Members of the body',
    'New members may appear in v1: ignore those you do not know.',
    membersOf(api, webhooks[0][1]),
    '## Notices',
    'An endpoint receives the [notices](/docs/webhooks#notices) that it asks for, as signed POSTs with a header of their own.',
    ...webhooks
      .filter(([, one]) => isNotice(one))
      .flatMap((one) => [...described(one), membersOf(api, one[1], `member of ${one[0]}`)]),
    '## Headers of a delivery',
    [
      '| header | meaning | example |',
      '|---|---|---|',
      ...headers.map((one) => `| \`${one.name}\` | ${cell(one.description)} | \`${cell(one.example)}\` |`),
    ].join('\n'),
    '[Verification](/docs/webhooks#verification) shows how to check the signature.',
    '## Your answer',
    [
      '| status | meaning |',
      '|---|---|',
      ...Object.entries(responses).map(([status, { description }]) => `| ${status} | ${cell(description)} |`),
    ].join('\n'),
  ];
  return parse(text.join('\n\n'));
};
