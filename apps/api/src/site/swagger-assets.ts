import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { StaticDocument } from '@app/platform/http/static-documents.js';

/** A release may change an asset but keeps its name. */
const CACHE_CONTROL = 'public, max-age=3600';
const SCRIPT = 'text/javascript; charset=utf-8';

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT,
};

/**
 * Relative links, so that the page works behind a proxy that adds a path prefix. For screen
 * readers, the path of an operation is no link inside a button.
 */
const START = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
const plain = (system) => ({
  components: { DeepLink: ({ text }) => system.React.createElement('span', null, text) },
});
window.ui = SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  persistAuthorization: true,
  tryItOutEnabled: true,
  plugins: [plain],
});
`;

/** What the page of the API reference loads: Swagger UI, from the copy that @nestjs/swagger depends on. */
export const swaggerAssets = (): readonly StaticDocument[] => {
  const ofSwagger = createRequire(import.meta.url).resolve('@nestjs/swagger/package.json');
  const folder = dirname(createRequire(ofSwagger).resolve('swagger-ui-dist/package.json'));
  return [
    {
      path: '/docs/reference/start.js',
      mediaType: SCRIPT,
      cacheControl: CACHE_CONTROL,
      bytes: Buffer.from(START),
    },
    ...Object.entries(ASSETS).map(([name, mediaType]) => ({
      path: `/docs/reference/${name}`,
      mediaType,
      cacheControl: CACHE_CONTROL,
      bytes: readFileSync(join(folder, name)),
    })),
  ];
};

/** Where these assets were before, each with a link relative to it. */
export const MOVED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(ASSETS).map((name) => [`/docs/${name}`, `reference/${name}`]),
);
