export const published = 'DocumentPublished';
