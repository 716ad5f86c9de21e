import { relativeLink } from './markdown.mjs';

/** Text as HTML, also inside an attribute. */
export const escapeHtml = (text) => String(text).replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

export const PRODUCT = 'Asynchronous Reading Service';

/** What the frame of a page says, in its language. */
const WORDS = {
  en: {
    skip: 'Skip to the text',
    docs: 'Documentation',
    search: 'Search',
    menu: 'Menu',
    here: 'On this page',
    other: ['fr', 'Français'],
    source: 'This page as Markdown',
    print: 'Made to be printed, too.',
    pages: 'Pages',
  },
  fr: {
    skip: 'Aller au texte',
    docs: 'Documentation',
    search: 'Rechercher',
    menu: 'Menu',
    here: 'Sur cette page',
    other: ['en', 'English'],
    source: 'Cette page en Markdown',
    print: 'Faite aussi pour l’impression.',
    pages: 'Pages',
  },
};

const navigation = (sections, path, lang, link) =>
  sections
    .map(({ title, fr, pages }) => {
      const items = pages.map((page) => {
        const french = lang === 'fr' ? page.fr : undefined;
        const to = french ? french.path : page.path;
        const current = to === path ? ' aria-current="page"' : '';
        // Of a page that there is in English alone.
        const english = lang === 'fr' && !french ? ' lang="en" hreflang="en"' : '';
        return `<li><a href="${link(to)}"${current}${english}>${escapeHtml(french?.title ?? page.title)}</a></li>`;
      });
      return `<p class="group">${escapeHtml(lang === 'fr' ? fr : title)}</p><ul>${items.join('')}</ul>`;
    })
    .join('');

/** The list of headings beside a page, without its title; none for a page with few. */
const contents = (headings, words) => {
  const shown = headings.filter(({ depth }) => depth === 2);
  if (shown.length < 3) return '';
  const items = shown.map(
    ({ anchor, title }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(title)}</a></li>`,
  );
  return `<nav class="here" aria-label="${words.here}"><p class="group">${words.here}</p><ul>${items.join('')}</ul></nav>`;
};

/**
 * A page in the frame of the site. Its links are relative, it needs no script, and nothing in it is inline but text.
 * @param page path, title, html, lang ("en" unless given), other (the address of its other language), headings,
 *   markdown (its address as Markdown), summary, kind (a class of the text), element
 *   (the text's, "main" unless given), head and foot (more HTML)
 * @param sections of pages.mjs, for the navigation
 */
export const layout = (page, sections) => {
  const {
    path,
    title,
    html,
    lang = 'en',
    other,
    headings = [],
    markdown,
    summary,
    kind = 'prose',
    element = 'main',
    head = '',
    foot = '',
  } = page;
  const words = WORDS[lang];
  const link = (to) => escapeHtml(relativeLink(path, to));
  const nav = navigation(sections, path, lang, link);
  const full = title === PRODUCT ? PRODUCT : `${title} · ${PRODUCT}`;
  const [otherLang, otherName] = words.other;
  return `<!DOCTYPE html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<title>${escapeHtml(full)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${summary ? `<meta name="description" content="${escapeHtml(summary)}">\n` : ''}<link rel="icon" type="image/svg+xml" href="${link('/docs/mark.svg')}">
${other ? `<link rel="alternate" hreflang="${otherLang}" href="${link(other)}">\n` : ''}${markdown ? `<link rel="alternate" type="text/markdown" href="${link(markdown)}">\n` : ''}<link rel="stylesheet" href="${link('/docs/style.css')}">
${head}<script src="${link('/docs/page.js')}" defer></script>
</head>
<body>
<a class="skip" href="#text">${words.skip}</a>
<header class="top">
<a class="brand" href="${link('/docs')}"><img src="${link('/docs/mark.svg')}" alt="" width="28" height="28"><span>${PRODUCT}</span></a>
<form class="search" role="search" action="${link('/docs/search')}" method="get">
<label class="hidden" for="q">${words.search}</label>
<input id="q" name="q" type="search" maxlength="100" placeholder="${words.search}" autocomplete="off"><button type="submit">${words.search}</button>
</form>
${other ? `<a class="language" href="${link(other)}" hreflang="${otherLang}" lang="${otherLang}">${otherName}</a>\n` : ''}</header>
<div class="frame">
<details class="menu"><summary>${words.menu}</summary><nav aria-label="${words.menu}">${nav}</nav></details>
<nav class="side" aria-label="${words.pages}">${nav}</nav>
<${element} id="text" class="text ${kind}" tabindex="-1">
${html}
${markdown ? `<p class="foot"><a href="${link(markdown)}">${words.source}</a></p>` : ''}
</${element}>
${contents(headings, words)}
</div>
${foot}</body>
</html>
`;
};
