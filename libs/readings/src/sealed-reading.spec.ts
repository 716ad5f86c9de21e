import { expect, it } from '@jest/globals';
import { InMemoryKeys } from '../test/in-memory-keys.js';
import { openInput, sealInput } from './sealed-reading.js';

const person = {
  name: { firstNames: ['Camille'], middleNames: [], lastNames: ['Laurent'] },
  dateOfBirth: '1990-06-15',
  grammaticalProfile: { subjectGender: 'feminine' },
};

it('seals references with the input, and their ordinary lengths look alike', async () => {
  const key = await new InMemoryKeys().create('7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11');
  const references = [
    { externalId: '1' },
    { externalId: 'x'.repeat(200) },
    { metadata: { shop: 'paris', campaign: 'x'.repeat(300) } },
  ];
  const sealed = references.map((some) => sealInput(key, { ...person, ...some }));
  expect(sealed.map((one) => openInput(key, one))).toEqual(
    references.map((some) => ({ ...person, ...some })),
  );
  expect(new Set(sealed.map(({ length }) => length)).size).toBe(1);
  expect(sealInput(key, person).length).toBeLessThan(sealed[0]!.length);
});
