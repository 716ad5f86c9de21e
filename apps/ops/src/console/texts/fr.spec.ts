import { expect, it } from '@jest/globals';
import { partedMarks } from '../../../../portal/src/testing/parted-marks.js';
import { fr } from './fr.js';

it('The French texts of the console part no mark and no unit from its word', () => {
  expect(partedMarks({ text: 'Deux : trois', other: 'Fin ?' })).toEqual(['Deux : trois', 'Fin ?']);
  expect(partedMarks(fr)).toEqual([]);
});
