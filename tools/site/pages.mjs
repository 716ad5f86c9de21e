/**
 * The pages that the service serves under /docs: those for integrators. A page has a `path`, the `file` that it comes
 * from, a `title`, and a `summary` for the index and for search results. `fr` is the file of its French edition.
 */
export const SECTIONS = [
  {
    title: 'Start',
    fr: 'Débuter',
    pages: [
      {
        path: '/docs/quick-start',
        file: 'docs/quick-start.md',
        fr: { file: 'docs/fr/quick-start.md', title: 'Démarrage rapide' },
        title: 'Quick start',
        summary: 'Order a reading, wait for it, download it: five requests.',
      },
      {
        path: '/docs/test-mode',
        file: 'docs/test-mode.md',
        title: 'Test mode',
        summary: 'Try every outcome with a test key, without live credits.',
      },
      {
        path: '/docs/going-live',
        file: 'docs/going-live.md',
        fr: { file: 'docs/fr/going-live.md', title: 'Mise en production' },
        title: 'Going live',
        summary: 'A checklist for the first day in production.',
      },
      {
        path: '/docs/tutorial',
        file: 'docs/tutorial.md',
        title: 'Tutorial',
        summary: 'The whole service on your own machine, to a verified webhook.',
      },
    ],
  },
  {
    title: 'Guides',
    fr: 'Guides',
    pages: [
      {
        path: '/docs/api',
        file: 'docs/api.md',
        title: 'Using the API',
        summary: 'Credentials, states, idempotency, pages, rates, erasure.',
      },
      {
        path: '/docs/webhooks',
        file: 'docs/webhooks.md',
        title: 'Webhooks',
        summary: 'Create endpoints, verify deliveries, replay, pull events.',
      },
      {
        path: '/docs/readings',
        file: 'docs/reading.md',
        title: 'Readings',
        summary: 'What a reading contains: conventions, figures, formats, versions.',
      },
      {
        path: '/docs/portal',
        file: 'docs/portal.md',
        title: 'The portal',
        summary: 'Show a workspace to people: links, sessions, scopes, pages.',
      },
      {
        path: '/docs/client',
        file: 'libs/client/README.md',
        title: 'TypeScript client',
        summary: 'Order, wait and download in three calls, with retries.',
      },
      {
        path: '/docs/webhook-verifier',
        file: 'libs/webhook-verifier/README.md',
        title: 'Webhook verifier',
        summary: 'Verify deliveries in Node, without dependencies.',
      },
    ],
  },
  {
    title: 'Reference',
    fr: 'Référence',
    pages: [
      {
        path: '/docs/reference',
        title: 'API reference',
        summary: 'Every operation, to try in the browser.',
      },
      {
        path: '/docs/events',
        title: 'Events and notices',
        summary: 'The four event types and the notices, with headers and bodies.',
      },
      {
        path: '/docs/errors',
        file: 'docs/errors.md',
        title: 'Errors',
        summary: 'Every problem code, its cause, and what to do.',
      },
      {
        path: '/changelog',
        file: 'CHANGELOG.md',
        title: 'Changelog',
        summary: 'What changed, newest first.',
      },
    ],
  },
];

/** Files that a link may name, and the addresses at which the service serves them. */
export const SERVED_FILES = {
  'docs/openapi.json': '/openapi.json',
  'docs/README.md': '/docs',
  'README.md': '/docs',
};

/** The address of the French edition of a page. */
export const frenchPath = (path) => path.replace('/docs/', '/docs/fr/');

/** The address of the page that explains a problem code. */
export const errorPath = (code) => `/docs/errors/${code}`;
