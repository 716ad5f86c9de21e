import { describe, expect, it } from '@jest/globals';
import { calculateTheme, toResult } from '../src/index.js';
import { readData } from './read-data.js';

const camille = {
  name: { firstNames: ['Camille'], middleNames: ['Marie'], lastNames: ['Laurent'] },
  dateOfBirth: '1990-06-15',
  subjectGender: 'feminine',
} as const;

const envelope = {
  readingId: '0b9f6f0e-5b7d-4f44-9a43-0f3c6c1f8a11',
  locale: 'fr-FR',
  contentVersion: '2026.11.0',
  formats: ['document_v1', 'markdown', 'pdf'],
} as const;

describe('the theme of the example person', () => {
  it('gives the published result, byte for byte', () => {
    const result = toResult(calculateTheme(camille, '2026-09-29'), envelope);
    const published = readData('result.example.json');
    expect(result).toEqual(JSON.parse(published));
    expect(JSON.stringify(result, null, 1)).toBe(published.trim());
  });
});
