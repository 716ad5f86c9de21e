import { describe, expect, it } from '@jest/globals';
import { renderMarkdown } from '../markdown/render.js';
import { composeDocument } from './compose.js';
import { camille, resultOf } from './testing/people.js';
import { writeFileSync } from 'node:fs';

describe('composeDocument', () => {
  it('x', () => {
    const d = composeDocument(resultOf(camille, 'fr-FR', 'feminine'), { publishedAt: '2026-09-29T08:00:00.000Z' });
    writeFileSync('/tmp/t/d.json', JSON.stringify(d));
    writeFileSync('/tmp/t/d.md', renderMarkdown(d));
    expect(d.meta.wordCount).toBe(0);
  });
});
