import type { PortalLink, Workspace } from './first-start.js';
import type { RunningStack } from './stack.js';

/** Printed on the terminal once everything runs. */
export const banner = (stack: RunningStack, seconds: string): string =>
  `
Ready in ${seconds} s.

  API        ${stack.baseUrl}
  Docs       ${stack.baseUrl}/docs
  Data       ${stack.folder.path} (logs in logs/)

This is an embedded single-node stack for development: one database, one event store, one worker, no replicas.
Press Ctrl-C to stop it; the data is kept.
`;

/** The API key of the demo workspace, with three example requests. */
export const firstSteps = ({ baseUrl }: RunningStack, { workspaceId, apiKey }: Workspace): string => `
The demo workspace ${workspaceId} has a Studio plan with 400 credits. Its API key, shown only once:

  ${apiKey}

Try it:

  export API_KEY=${apiKey}
  export BASE_URL=${baseUrl}
  READING=$(curl -sS "$BASE_URL/api/v1/readings" -H "x-api-key: $API_KEY" -H 'content-type: application/json' -d '{"productId":"theme","profileId":"evan","locale":"en-US","name":{"firstNames":["Ada"],"middleNames":["May"],"lastNames":["Example"]},"dateOfBirth":"1990-04-12","grammaticalProfile":{"subjectGender":"feminine"}}' | sed -nE 's/.*"readingId":"([^"]+)".*/\\1/p')
  for look in 1 2 3 4 5; do curl -fsS "$BASE_URL/api/v1/readings/$READING" -H "x-api-key: $API_KEY" -H 'prefer: wait=10' | grep '"completed"' && break; sleep 1; done
  curl -fsS "$BASE_URL/api/v1/readings/$READING/document?format=pdf" -H "x-api-key: $API_KEY" -o reading.pdf
`;

/** The link works once, within 60 seconds. */
export const portalStep = (
  { folder }: Pick<RunningStack, 'folder'>,
  { workspaceId, url }: PortalLink,
): string => `The portal of the demo workspace, once within 60 seconds:

  ${url}

Another link:

  DATA_DIR='${folder.path.replaceAll("'", `'\\''`)}' npm run -s ops -- portal link --workspace ${workspaceId}
`;
