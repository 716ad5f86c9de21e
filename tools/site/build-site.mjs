/**
 * Renders what the service serves under /docs, from docs/*.md and docs/openapi.json. The build writes it to
 * dist/site.json, so that the service needs no Markdown library.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PRODUCT, escapeHtml, layout } from './layout.mjs';
import { parse, relativeLink, renderPage, resolver } from './markdown.mjs';
import { SECTIONS, SERVED_FILES, frenchPath } from './pages.mjs';
import { errorPages, eventsPage, withErrorLinks } from './reference.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file) => readFileSync(join(root, file), 'utf8');
const asset = (name) => readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8');

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';

const ERRORS = 'docs/errors.md';

/** A page appears once its file exists. */
const sections = SECTIONS.map(({ title, fr, pages }) => ({
  title,
  fr,
  pages: pages
    .filter(({ file }) => file === undefined || existsSync(join(root, file)))
    .map((page) => ({ ...page, ...(page.fr && { fr: { ...page.fr, path: frenchPath(page.path) } }) })),
}));
const listed = sections.flatMap(({ pages }) => pages);

/** Address of each served file. */
const addresses = new Map([
  ...Object.entries(SERVED_FILES),
  ...listed.flatMap(({ file, path, fr }) => [
    ...(file ? [[file, path]] : []),
    ...(fr ? [[fr.file, fr.path]] : []),
  ]),
]);

/** @returns the pages from files, those made of the API document, and one for each problem code */
const written = () => {
  const api = JSON.parse(read('docs/openapi.json'));
  const ofFiles = listed
    .filter(({ file }) => file !== undefined)
    .flatMap(({ path, file, title, summary, fr }) => [
      { path, file, title, summary, tree: parse(read(file)), ...(fr && { other: fr.path }) },
      ...(fr
        ? [
            {
              path: fr.path,
              file: fr.file,
              title: fr.title,
              lang: 'fr',
              tree: parse(read(fr.file)),
              other: path,
            },
          ]
        : []),
    ]);
  const errors = ofFiles.find(({ file }) => file === ERRORS);
  const events = listed.find(({ path }) => path === '/docs/events');
  return [
    ...ofFiles.map((page) => (page === errors ? { ...page, tree: withErrorLinks(page.tree, api) } : page)),
    { ...events, tree: eventsPage(api) },
    ...errorPages(errors.tree, api).map((page) => ({ ...page, file: ERRORS })),
  ];
};

const cards = (from) =>
  sections
    .map(({ title, pages }) => {
      const items = pages.map(({ path, title, summary, fr }) => {
        const french = fr
          ? ` <a class="also" href="${relativeLink(from, fr.path)}" hreflang="fr" lang="fr">en français</a>`
          : '';
        return `<li><a href="${relativeLink(from, path)}">${escapeHtml(title)}</a>${french}<p>${escapeHtml(summary)}</p></li>`;
      });
      return `<h2>${title}</h2><ul class="cards">${items.join('')}</ul>`;
    })
    .join('');

const index = (path) => ({
  path,
  title: PRODUCT,
  summary: 'How to order readings, receive webhooks and go live.',
  kind: 'prose home',
  html: `<h1>${PRODUCT}</h1>
<p class="lead">Send a birth name and a birth date. A moment later you have a numerology reading: structured numbers, a document and a typeset PDF. Signed webhooks announce each step.</p>
${cards(path)}
<p class="foot">For programs: <a href="${relativeLink(path, '/openapi.json')}">openapi.json</a>, <a href="${relativeLink(path, '/llms.txt')}">llms.txt</a></p>`,
});

/** Swagger UI, with the frame of the site around it. swagger-assets.ts serves its files. */
const reference = {
  ...listed.find(({ path }) => path === '/docs/reference'),
  kind: 'reference',
  // Swagger UI brings a `main` of its own.
  element: 'div',
  head: `<link rel="stylesheet" href="reference/swagger-ui.css">\n<link rel="stylesheet" href="reference.css">\n`,
  html: `<section class="prose" aria-label="About this reference">
<h1>API reference</h1>
<p>New here? Begin with the <a href="quick-start">quick start</a>. <a href="api">Using the API</a> explains what all operations share, and <a href="errors">Errors</a> every refusal.</p>
<p>Enter a key under <em>Authorize</em> to try an operation. This browser keeps it until you log out there, so use a key for trials.</p>
<h2>Operations</h2>
<noscript><p>This page needs scripts. The same is in <a href="../openapi.json">openapi.json</a>.</p></noscript>
</section>
<div id="swagger-ui"></div>`,
  foot: `<script src="reference/swagger-ui-bundle.js"></script>\n<script src="reference/start.js"></script>\n`,
};

const searchPage = (lang) => ({
  path: '/docs/search',
  title: 'Search',
  lang,
  html: '<h1>Search</h1>\n<!--results-->',
});

const llms = () => {
  const lines = sections.map(({ title, pages }) => {
    const items = pages.map(({ path, title, summary, file }) => {
      const address =
        path === '/docs/reference' ? '/openapi.json' : file || path === '/docs/events' ? `${path}.md` : path;
      return `- [${title}](${address}): ${summary}`;
    });
    return `## ${title}\n\n${items.join('\n')}`;
  });
  const lead =
    'An authenticated, asynchronous API: order numerology readings, follow their progress, fetch results and documents, receive signed webhooks.';
  return `# ${PRODUCT}\n\n> ${lead}\n\nEvery problem has a \`type\` \`urn:problem:<code>\`; /docs/errors/<code>.md explains it.\n\n${lines.join('\n\n')}\n`;
};

/** A problem code is found once: as the head of its own page. */
const isFound =
  ({ path, file }) =>
  ({ depth }) =>
    file !== ERRORS || (path === '/docs/errors' ? depth < 3 : depth === 1);

/**
 * @returns documents (path, mediaType, text), the search page around `<!--results-->`, and what can be found: path,
 *   page, title and text of each section
 */
export const buildSite = () => {
  const documents = [];
  const found = [];
  for (const page of written()) {
    const {
      html,
      markdown,
      sections: parts,
    } = renderPage(page.tree, page.path, resolver(page.file ?? '', addresses), page.lang);
    const asMarkdown = `${page.path}.md`;
    documents.push({
      path: page.path,
      mediaType: HTML,
      text: layout({ ...page, html, headings: parts, markdown: asMarkdown }, sections),
    });
    documents.push({ path: asMarkdown, mediaType: MARKDOWN, text: markdown });
    for (const { title, anchor, depth, text } of parts.filter(isFound(page))) {
      const path = depth === 1 ? page.path : `${page.path}#${anchor}`;
      found.push({ path, page: page.title, title, text, lang: page.lang ?? 'en' });
    }
  }
  for (const page of [index('/docs'), index('/'), reference])
    documents.push({ path: page.path, mediaType: HTML, text: layout(page, sections) });
  documents.push(
    { path: '/llms.txt', mediaType: 'text/plain; charset=utf-8', text: llms() },
    { path: '/docs/mark.svg', mediaType: 'image/svg+xml', text: asset('mark.svg') },
    { path: '/docs/style.css', mediaType: 'text/css; charset=utf-8', text: asset('style.css') },
    { path: '/docs/reference.css', mediaType: 'text/css; charset=utf-8', text: asset('reference.css') },
    { path: '/docs/page.js', mediaType: 'text/javascript; charset=utf-8', text: asset('page.js') },
  );
  const api = JSON.stringify(JSON.parse(read('docs/openapi.json')));
  documents.push({ path: '/openapi.json', mediaType: 'application/json', text: api });
  return { documents, search: layout(searchPage('en'), sections), found };
};
