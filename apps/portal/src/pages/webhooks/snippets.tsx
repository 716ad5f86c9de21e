import { readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import type { Visit } from '../../frame/page.js';
import { Section } from '../../frame/parts.js';

/** As docs/webhooks.md shows them; `test/webhooks-docs` runs them. */
const SNIPPETS = [
  ['Node', 'verify.mjs'],
  ['Python', 'verify.py'],
  ['PHP', 'verify.php'],
].map(([language, file]) => ({
  language: language!,
  code: readFileSync(projectPath('apps/portal/assets/verify', file!), 'utf8').trimEnd(),
}));

/** How a receiver verifies what arrives, in each language. */
export const Snippets = ({ visit: { texts } }: { readonly visit: Visit }) => (
  <Section title={texts.newEndpoint.verify}>
    <p>{texts.newEndpoint.verifyHint}</p>
    {SNIPPETS.map(({ language, code }, at) => (
      <details open={at === 0}>
        <summary>{language}</summary>
        <pre tabIndex={0} data-copy>
          <code>{code}</code>
        </pre>
      </details>
    ))}
  </Section>
);
