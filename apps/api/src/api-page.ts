import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { StaticDocument } from '@app/platform/http/static-documents.js';

/** A release may change an asset but keeps its name. */
const ASSET_CACHE_CONTROL = 'public, max-age=3600';
const SCRIPT = 'text/javascript; charset=utf-8';

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT,
  'swagger-ui-standalone-preset.js': SCRIPT,
  'favicon-32x32.png': 'image/png',
  'favicon-16x16.png': 'image/png',
};

/** Relative links, so that the page works behind a proxy that adds a path prefix. */
const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Asynchronous Reading Service</title>
  <link rel="stylesheet" href="./docs/swagger-ui.css">
  <link rel="icon" type="image/png" href="./docs/favicon-32x32.png" sizes="32x32">
  <link rel="icon" type="image/png" href="./docs/favicon-16x16.png" sizes="16x16">
</head>
<body>
  <div id="swagger-ui"></div>
  <script src="./docs/swagger-ui-bundle.js"></script>
  <script src="./docs/swagger-ui-standalone-preset.js"></script>
  <script src="./docs/swagger-ui-init.js"></script>
</body>
</html>
`;

const START = `window.ui = SwaggerUIBundle({
  url: './openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  tryItOutEnabled: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
});
`;

/** The page that shows the API, under /docs, with its assets. */
export const apiPage = (cacheControl: string): readonly StaticDocument[] => {
  const page = { mediaType: 'text/html; charset=utf-8', cacheControl, bytes: Buffer.from(PAGE) };
  const folder = swaggerUiFolder();
  return [
    { ...page, path: '/docs' },
    { path: '/docs/swagger-ui-init.js', mediaType: SCRIPT, cacheControl, bytes: Buffer.from(START) },
    ...Object.entries(ASSETS).map(([name, mediaType]) => ({
      path: `/docs/${name}`,
      mediaType,
      cacheControl: ASSET_CACHE_CONTROL,
      bytes: readFileSync(join(folder, name)),
    })),
  ];
};

/** The copy that @nestjs/swagger depends on. */
const swaggerUiFolder = (): string => {
  const ofSwagger = createRequire(import.meta.url).resolve('@nestjs/swagger/package.json');
  return dirname(createRequire(ofSwagger).resolve('swagger-ui-dist/package.json'));
};
