export const account = {
  overview: {
    title: 'Vue d’ensemble',
    credits: 'Crédits',
    available: 'Disponibles',
    reserved: 'Retenus par les lectures en cours',
    nextExpiry: 'Prochaine échéance',
    expiry: (credits: string, day: string) => `${credits} le ${day}`,
    latest: 'Dernières lectures',
    failing: 'Points d’accès à surveiller',
    endpoint: 'Point d’accès',
    allWell: 'Tous les points d’accès sont en état.',
    firstSteps: 'Premiers pas',
    stepKey: 'Créez une clé d’API pour votre programme.',
    stepOrder: 'Commandez une lecture, en mode test si vous voulez : elle n’y coûte rien.',
    stepWebhook: 'Créez un webhook, pour que votre programme sache quand une lecture est prête.',
    guide: 'Lire le guide',
  },
};
