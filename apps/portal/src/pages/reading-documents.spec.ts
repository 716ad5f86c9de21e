import { expect, it } from '@jest/globals';
import { h } from 'preact';
import type { DocumentLink } from '@reading-service/client';
import { rendered, rowsOf, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { DocumentLinks } from './reading-documents.js';

const { linkStates, revokeLink } = TEXTS.en.reading;

it.each(Object.entries(linkStates))(
  'says in words that a link is %s, and ends only a live one',
  (status, word) => {
    const link = { linkId: 'l1', format: 'pdf', status, expiresAt: '2026-03-04T05:06:07.000Z', uses: 3 };
    const visit = visitTo({});
    const links = [link as unknown as DocumentLink];
    const [, row = ''] = rowsOf(rendered(visit, h(DocumentLinks, { visit, links })));
    expect(row).toContain(word);
    expect(row.includes(`>${revokeLink}</button>`)).toBe(status === 'live');
  },
);
