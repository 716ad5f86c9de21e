import { frontmatterToMarkdown } from 'mdast-util-frontmatter';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { toMarkdown } from 'mdast-util-to-markdown';
import { stringify } from 'yaml';
import type { DocumentV1 } from '../document/document.js';
import { lowerDocument } from './lower.js';
import { plainTextFirst } from './plain-text.js';

/** What identifies the document and lets it be made again; no personal data beyond what the text itself says. */
const frontMatter = ({ title, locale, schemaVersion, meta }: DocumentV1): string =>
  stringify(
    {
      title,
      lang: locale,
      document: `document_v${schemaVersion}`,
      readingId: meta.readingId,
      documentVersion: meta.documentVersion,
      publishedAt: meta.publishedAt,
      asOf: meta.asOf,
      method: meta.method,
      engineVersion: meta.engineVersion,
      contentVersion: meta.contentVersion,
    },
    { lineWidth: 0 },
  ).trimEnd();

/**
 * The document as CommonMark with GFM tables and a YAML front matter, UTF-8, ending in a newline. Names and every
 * other text are escaped, so that nothing in them becomes markup, and no address in them a link.
 */
export const renderMarkdown = (document: DocumentV1): string => {
  const body = lowerDocument(document);
  return toMarkdown(
    { ...body, children: [{ type: 'yaml', value: frontMatter(document) }, ...body.children] },
    {
      bullet: '-',
      rule: '-',
      handlers: { text: plainTextFirst },
      extensions: [gfmTableToMarkdown({ tablePipeAlign: false }), frontmatterToMarkdown('yaml')],
    },
  );
};
