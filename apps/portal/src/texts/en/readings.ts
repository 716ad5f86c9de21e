export const readings = {
  readings: {
    title: 'Readings',
    caption: 'Readings, newest first',
    empty: 'No reading here. Orders through the API and from this portal appear in this list.',
    id: 'Reading',
    status: 'State',
    locale: 'Language',
    created: 'Ordered',
    document: 'Document',
    version: (version: string) => `Version ${version}`,
    externalId: 'Your own id',
    since: 'Ordered since (UTC)',
    until: 'Ordered before (UTC)',
  },
  locales: { 'fr-FR': 'French', 'en-US': 'English' },
};
