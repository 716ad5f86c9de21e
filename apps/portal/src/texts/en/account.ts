export const account = {
  overview: {
    title: 'Overview',
    credits: 'Credits',
    available: 'Available',
    reserved: 'Held by readings under way',
    nextExpiry: 'Next to expire',
    expiry: (credits: string, day: string) => `${credits} on ${day}`,
    latest: 'Latest readings',
    failing: 'Endpoints that need you',
    endpoint: 'Endpoint',
    allWell: 'All endpoints are well.',
    firstSteps: 'First steps',
    stepKey: 'Issue an API key for your program.',
    stepOrder: 'Order a reading, in test mode if you like: it costs nothing there.',
    stepWebhook: 'Create a webhook endpoint, so that your program learns when a reading is ready.',
    guide: 'Read the guide',
  },
};
