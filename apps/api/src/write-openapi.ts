import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { describedApi, openApiDocument } from './openapi.js';

/** Writes the OpenAPI document of the current code to docs/openapi.json. A test compares the two. */
const file = projectPath('docs/openapi.json');
const app = await describedApi();
const document = openApiDocument(app);
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
await app.close();
process.stdout.write(`${file}: ${Object.keys(document.paths).length} paths\n`);
