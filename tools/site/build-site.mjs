/**
 * Renders what the service serves under /docs to dist/site: a page for each file that docs/index.md links to, one for each
 * problem code, all of them as Markdown too, and the reference with Swagger UI. As a program it takes another folder.
 */
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import hljs from 'highlight.js/lib/common';
import { Marked, Renderer } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';
import swaggerUi from 'swagger-ui-dist';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file) => readFileSync(join(root, file), 'utf8');
const escaped = (text) => text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const INDEX = 'docs/index.md';
const REFERENCE = 'docs/reference.md';
/** Addresses that do not follow from the file's name; docs/x.md is at /docs/x. */
const ADDRESSES = {
  [INDEX]: '/docs',
  'docs/README.md': '/docs',
  'README.md': '/docs',
  'docs/openapi.json': '/openapi.json',
  'docs/reading.md': '/docs/readings',
  'libs/client/README.md': '/docs/client',
  'libs/webhook-verifier/README.md': '/docs/webhook-verifier',
  'CHANGELOG.md': '/changelog',
};

/** Calls `replace(title, target)` for each link of a Markdown text outside of code blocks. */
const eachLink = (markdown, replace) =>
  markdown
    .split(/^( *```[^]*?^ *```$)/m)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part.replaceAll(/\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s]+)\)/g, (_, title, target) =>
            replace(title, target),
          ),
    )
    .join('');

/** What the index links to, in its order: the navigation. */
const listed = [];
eachLink(read(INDEX), (title, target) => {
  const file = posix.join('docs', target);
  const address = ADDRESSES[file] ?? `/${file.replace(/\.md$/, '')}`;
  listed.push({ title, file, address, lang: file.startsWith('docs/fr/') ? 'fr' : 'en' });
});
const addresses = new Map([
  ...Object.entries(ADDRESSES),
  ...listed.map(({ file, address }) => [file, address]),
]);

/** A file's Markdown with the addresses of the site. Text stays where a link leads to what is not served. */
const withAddresses = (file, markdown) =>
  eachLink(markdown, (title, target) => {
    if (/^(https?:|mailto:|#)/.test(target)) return `[${title}](${target})`;
    const [path, hash] = target.split('#');
    const address = addresses.get(posix.join(posix.dirname(file), path));
    return address === undefined ? title : `[${title}](${address}${hash === undefined ? '' : `#${hash}`})`;
  });

/** A relative link between two addresses, so that a proxy may add a prefix to both. */
const relativeLink = (from, to) =>
  posix.join(posix.relative(posix.dirname(from), posix.dirname(to)) || '.', posix.basename(to));

// What scrolls can be reached by keyboard.
const marked = new Marked(gfmHeadingId(), {
  renderer: {
    code({ text, lang }) {
      const known = hljs.getLanguage(lang ?? '') !== undefined;
      const shown = known ? hljs.highlight(text, { language: lang }).value : escaped(text);
      return `<pre tabindex="0"><code>${shown}</code></pre>\n`;
    },
    table(token) {
      const label = token.header.map(({ text }) => text.replaceAll('`', '')).join(', ');
      const table = Renderer.prototype.table.call(this, token);
      return `<section class="table" tabindex="0" aria-label="${escaped(label)}">\n${table}</section>\n`;
    },
    checkbox: () => '☐ ',
  },
});

const VIEWER = {
  head: `<link rel="stylesheet" href="assets/swagger-ui.css">
<script src="assets/swagger-ui-bundle.js" defer></script>
<script src="assets/start.js" defer></script>
`,
  body: '<noscript><p>The operations need scripts.</p></noscript>\n<div id="swagger-ui"></div>\n',
};

/** A page in the frame of the site: relative links, and nothing inline. Only the reference has scripts. */
const page = ({ file, address, lang, markdown }) => {
  const link = (to) => relativeLink(address, to);
  const html = marked.parse(
    eachLink(markdown, (title, to) => `[${title}](${to.startsWith('/') ? link(to) : to})`),
  );
  const headings = getHeadingList();
  const isReference = file === REFERENCE;
  // Swagger UI has a `main` of its own.
  const text = isReference
    ? `<div class="text"><section aria-label="About this page">\n${html}</section>\n${VIEWER.body}</div>`
    : `<main class="text">\n${html}</main>`;
  const contents = headings
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`);
  const items = listed.map((one) => {
    const isHere = one.address === address;
    const here = `${isHere ? ' aria-current="page"' : ''}${one.lang === 'fr' ? ' lang="fr"' : ''}`;
    const parts = isHere && contents.length > 0 ? `<ul lang="${lang}">${contents.join('')}</ul>` : '';
    return `<li><a href="${link(one.address)}"${here}>${escaped(one.title)}</a>${parts}</li>`;
  });
  return `<!DOCTYPE html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<title>${address === '/docs' ? '' : `${escaped(headings[0].raw)} · `}Asynchronous Reading Service</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" type="image/svg+xml" href="${link('/docs/assets/mark.svg')}">
${isReference ? VIEWER.head : ''}<link rel="stylesheet" href="${link('/docs/assets/style.css')}">
</head>
<body>
<header lang="en"><a href="${link('/docs')}">Asynchronous Reading Service</a> <a class="jump" href="#all-pages">All pages</a></header>
${text}
<nav id="all-pages" lang="en" aria-label="All pages"><ul>${items.join('')}</ul></nav>
</body>
</html>
`;
};

/** A page for each problem code: what docs/errors.md says of it, and the example of the API's document. */
const errorPages = (markdown, examples) =>
  markdown
    .split(/^(?=##)/m)
    .map((part) => [/^### `(\w+)`/.exec(part)?.[1], part])
    .filter(([code]) => code in examples)
    .map(([code, part]) => {
      const { summary, value } = examples[code];
      const said = part.slice(part.indexOf('\n')).trim();
      const example = ['```json', JSON.stringify(value, null, 2), '```'].join('\n');
      return {
        code,
        address: `/docs/errors/${code}`,
        lang: 'en',
        markdown: `# \`${code}\`\n\n**${value.status}** · ${summary}\n\n${said}\n\n## Example\n\n${example}\n\n[All errors](/docs/errors)\n`,
      };
    });

/** Writes the site to a folder, whole or not at all: a program may start meanwhile. */
export const buildSite = (out = join(root, 'dist/site')) => {
  const draft = `${out}.${process.pid}`;
  const write = (path, text) => {
    mkdirSync(dirname(join(draft, path)), { recursive: true });
    writeFileSync(join(draft, path), text);
  };
  const api = JSON.parse(read('docs/openapi.json'));
  write('openapi.json', JSON.stringify(api));
  const files = [{ file: INDEX, address: '/docs', lang: 'en' }, ...listed].filter(({ file }) =>
    file.endsWith('.md'),
  );
  const pages = files.map((one) => ({ ...one, markdown: withAddresses(one.file, read(one.file)) }));
  const errors = pages.find(({ file }) => file === 'docs/errors.md');
  const ofCodes = errorPages(errors.markdown, api.components.examples);
  errors.markdown = ofCodes.reduce(
    (text, { code, address }) => text.replace(`### \`${code}\`\n`, `### [\`${code}\`](${address})\n`),
    errors.markdown,
  );
  for (const one of [...pages, ...ofCodes]) {
    write(`${one.address}.html`, page(one));
    write(`${one.address}.md`, one.markdown);
  }
  // For language models: llmstxt.org.
  const program = (to) =>
    to === '/docs/reference' ? '/openapi.json' : to.replace(/^\/(docs\/.+|changelog)$/, '/$1.md');
  write(
    'llms.txt',
    eachLink(pages[0].markdown, (title, to) => `[${title}](${program(to)})`),
  );
  for (const name of ['mark.svg', 'style.css', 'start.js'])
    cpSync(new URL(name, import.meta.url), join(draft, 'docs/assets', name));
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    cpSync(join(swaggerUi.absolutePath(), name), join(draft, 'docs/assets', name));
  rmSync(out, { recursive: true, force: true });
  renameSync(draft, out);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) buildSite(process.argv[2]);
