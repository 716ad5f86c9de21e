import type { RootContent } from 'mdast';
import { frontmatterToMarkdown } from 'mdast-util-frontmatter';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { toMarkdown } from 'mdast-util-to-markdown';
import { stringify } from 'yaml';
import type { DocumentV1 } from '../document/document.js';
import { lowerDocument } from './lower.js';
import { plainFirst } from './plain-text.js';

/** Identifies the document and the versions to reproduce it; no personal data beyond that of the text. */
const frontMatter = ({ title, locale, livemode, schemaVersion, meta }: DocumentV1): string =>
  stringify(
    {
      title,
      lang: locale,
      ...(livemode === false && { livemode }),
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

/** The first line of a test reading's document. */
const TEST_MARK: RootContent = {
  type: 'paragraph',
  children: [{ type: 'strong', children: [{ type: 'text', value: 'TEST' }] }],
};

/**
 * Renders the document as CommonMark with GFM tables and a YAML front matter, ending in a newline. Escapes names and
 * all other text, so that nothing in them becomes markup or a link.
 */
export const renderMarkdown = (document: DocumentV1): string => {
  const body = lowerDocument(document);
  const head: RootContent[] = [{ type: 'yaml', value: frontMatter(document) }];
  if (document.livemode === false) head.push(TEST_MARK);
  return toMarkdown(
    { ...body, children: [...head, ...body.children] },
    {
      bullet: '-',
      rule: '-',
      handlers: plainFirst,
      extensions: [gfmTableToMarkdown({ tablePipeAlign: false }), frontmatterToMarkdown('yaml')],
    },
  );
};
