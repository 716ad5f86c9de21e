import type { Workspace } from './first-start.js';
import type { RunningStack } from './stack.js';

/** What stands on the terminal once everything runs. */
export const banner = (stack: RunningStack, seconds: string): string =>
  `
Ready in ${seconds} s.

  API        ${stack.baseUrl}
  Reference  ${stack.baseUrl}/docs
  Data       ${stack.folder.path} (logs in logs/)

This is an embedded single-node stack for development: one database, one event store, one worker, no replicas.
Stop it with Ctrl-C; the data stays.
`;

/** The demo workspace's key and three requests to try it with. */
export const firstSteps = ({ baseUrl }: RunningStack, { workspaceId, apiKey }: Workspace): string => `
A demo workspace (${workspaceId}) with a Studio plan of 400 credits is open. Its API key, shown only now:

  ${apiKey}

Try it:

  export API_KEY=${apiKey}
  export BASE_URL=${baseUrl}
  READING=$(curl -sS "$BASE_URL/api/v1/readings" -H "x-api-key: $API_KEY" -H 'content-type: application/json' -d '{"productId":"theme","profileId":"evan","locale":"en-US","name":{"firstNames":["Ada"],"middleNames":["May"],"lastNames":["Example"]},"dateOfBirth":"1990-04-12","grammaticalProfile":{"subjectGender":"feminine"}}' | sed -nE 's/.*"readingId":"([^"]+)".*/\\1/p')
  for look in 1 2 3 4 5; do curl -fsS "$BASE_URL/api/v1/readings/$READING" -H "x-api-key: $API_KEY" -H 'prefer: wait=10' | grep '"completed"' && break; sleep 1; done
  curl -fsS "$BASE_URL/api/v1/readings/$READING/document?format=pdf" -H "x-api-key: $API_KEY" -o reading.pdf
`;
