import { posix } from 'node:path';
import { createLowlight, common } from 'lowlight';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown, gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, toHast } from 'mdast-util-to-hast';
import { toHtml } from 'hast-util-to-html';
import { toMarkdown } from 'mdast-util-to-markdown';
import { gfm } from 'micromark-extension-gfm';

/** @returns the syntax tree (mdast) of a page */
export const parse = (markdown) =>
  fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

/** The text of a node, as a reader sees it. */
export const textOf = (node) =>
  node.value ?? (node.children ?? []).map(textOf).join(node.type === 'tableRow' ? ' ' : '');

/** The anchor that GitHub derives from a heading. */
export const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** A relative link between two addresses, so that a proxy may add a prefix to both. */
export const relativeLink = (from, to) => {
  const [path, hash] = to.split('#');
  const link =
    path === from && hash
      ? ''
      : posix.join(posix.relative(posix.dirname(from), posix.dirname(path)) || '.', posix.basename(path));
  return hash === undefined ? link : `${link}#${hash}`;
};

/**
 * Replaces the links of a page. Text stays where a link has no target for readers of the site.
 * @param resolve takes the written address, gives the new one or null
 */
export const withLinks = (node, resolve) => {
  if (!node.children) return node;
  const children = node.children.flatMap((child) => {
    const inside = withLinks(child, resolve);
    if (child.type !== 'link') return [inside];
    const url = resolve(child.url);
    return url === null ? inside.children : [{ ...inside, url }];
  });
  return { ...node, children };
};

/** Resolves the links of a file: to served pages, to other hosts, or to nothing. */
export const resolver = (file, addresses) => (url) => {
  if (/^(https?:|mailto:|\/)/.test(url)) return url;
  if (url.startsWith('#')) return `${addresses.get(file)}${url}`;
  const [target, hash] = url.split('#');
  const address = addresses.get(posix.join(posix.dirname(file), decodeURI(target)));
  return address === undefined ? null : `${address}${hash === undefined ? '' : `#${hash}`}`;
};

const lowlight = createLowlight(common);
const LANGUAGES = { sh: 'bash', js: 'javascript', ts: 'typescript', json: 'json', python: 'python' };

const element = (tagName, properties, children) => ({ type: 'element', tagName, properties, children });

/** What the frame of a part says to those who hear it. */
const WORDS = {
  en: { table: 'Table: ', link: (title) => `Link to “${title}”` },
  fr: { table: 'Tableau : ', link: (title) => `Lien vers « ${title} »` },
};

const handlersOf = (words) => ({
  code: (_, { lang, value }) => {
    const language = LANGUAGES[lang];
    const shown = language
      ? lowlight.highlight(language, value).children
      : [{ type: 'text', value: `${value}` }];
    // Focusable, because a long line scrolls.
    const code = element('pre', { tabIndex: 0 }, [element('code', {}, shown)]);
    return element('div', { className: ['code'] }, [code]);
  },
  table: (state, node) => {
    const table = defaultHandlers.table(state, node);
    const label = `${words.table}${node.children[0].children.map(textOf).join(', ')}`;
    return element('section', { className: ['table'], tabIndex: 0, ariaLabel: label }, [table]);
  },
  listItem: (state, node, parent) => {
    const item = defaultHandlers.listItem(state, { ...node, checked: null }, parent);
    // The stylesheet draws a box to tick on paper: a real one would forget what was ticked.
    if (typeof node.checked === 'boolean') item.properties.className = ['task-list-item'];
    return item;
  },
  heading: (state, node) => {
    const heading = defaultHandlers.heading(state, node);
    if (!node.anchor) return heading;
    heading.properties.id = node.anchor;
    const anchor = { className: ['anchor'], href: `#${node.anchor}`, ariaLabel: words.link(textOf(node)) };
    if (node.depth > 1) heading.children.push(element('a', anchor, [{ type: 'text', value: '#' }]));
    return heading;
  },
});

/** Gives each heading of a page its anchor; a repeated one gets a number. */
const withAnchors = (tree) => {
  const seen = new Map();
  const children = tree.children.map((node) => {
    if (node.type !== 'heading') return node;
    const slug = slugOf(textOf(node));
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return { ...node, anchor: before === 0 ? slug : `${slug}-${before}` };
  });
  return { ...tree, children };
};

/** What a reader finds by searching: each heading with the text below it. */
const sectionsOf = (tree) => {
  const sections = [];
  for (const node of tree.children) {
    if (node.type === 'heading')
      sections.push({ title: textOf(node), anchor: node.anchor, depth: node.depth, text: '' });
    else if (sections.length > 0) sections.at(-1).text += `${spaced(node)} `;
  }
  return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, ' ').trim() }));
};

const spaced = (node) =>
  node.children && !['paragraph', 'link', 'strong', 'emphasis', 'tableCell'].includes(node.type)
    ? node.children.map(spaced).join(' ')
    : textOf(node);

/**
 * Renders a page.
 * @param tree its syntax tree
 * @param path its address
 * @param resolve see `withLinks`
 * @param lang its language
 * @returns its HTML, its Markdown with the links of the site, and its sections
 */
export const renderPage = (tree, path, resolve, lang = 'en') => {
  const whole = withAnchors(tree);
  const linked = withLinks(whole, (url) => {
    const address = resolve(url);
    return address?.startsWith('/') ? relativeLink(path, address) : address;
  });
  return {
    html: toHtml(toHast(linked, { handlers: handlersOf(WORDS[lang]) })),
    markdown: toMarkdown(withLinks(tree, resolve), { extensions: [gfmToMarkdown()], bullet: '-' }),
    sections: sectionsOf(whole),
  };
};
