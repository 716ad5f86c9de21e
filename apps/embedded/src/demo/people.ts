import type { CreateReading } from '@reading-service/client';

/** Two fictitious people, as bodies of POST /api/v1/readings. */
export const people: readonly CreateReading[] = [
  {
    productId: 'theme',
    profileId: 'evan',
    locale: 'fr-FR',
    name: { firstNames: ['Élodie'], middleNames: ['Anne-Laure'], lastNames: ['Ferrand'] },
    dateOfBirth: '1987-11-29',
    grammaticalProfile: { subjectGender: 'feminine' },
  },
  {
    productId: 'theme',
    profileId: 'evan',
    locale: 'en-US',
    name: { firstNames: ['Marcus'], middleNames: ['Theo'], lastNames: ["O'Malley"] },
    dateOfBirth: '1979-03-08',
    grammaticalProfile: { subjectGender: 'masculine' },
  },
];
