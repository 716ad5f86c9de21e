export const readings = {
  readings: {
    title: 'Lectures',
    caption: 'Lectures, les plus récentes d’abord',
    empty: 'Aucune lecture ici. Les commandes par l’API et depuis ce portail apparaissent dans cette liste.',
    id: 'Lecture',
    status: 'État',
    locale: 'Langue',
    created: 'Commandée',
    document: 'Document',
    version: (version: string) => `Version ${version}`,
    externalId: 'Votre identifiant',
    since: 'Commandée depuis (UTC)',
    until: 'Commandée avant (UTC)',
  },
  locales: { 'fr-FR': 'Français', 'en-US': 'Anglais' },
};
